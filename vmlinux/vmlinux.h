/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that the BPF programs touch, with only the fields they use. CO-RE relocates
 * each access by name against the running kernel's BTF, so order and size here mean nothing.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/types.h>
#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef int pid_t;
typedef _Bool bool;

#define true 1
#define false 0

#include "regs.h"

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct sched_entity {
	u64 sum_exec_runtime;
};

struct inode {
	unsigned short i_mode;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	pid_t pid;
	pid_t tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct sched_entity se;
	u64 start_time;
	u64 start_boottime; /* since 5.5 */
	unsigned int __state; /* since 5.14 */
	unsigned int flags;
	unsigned in_iowait : 1;
	struct files_struct *files;
	char comm[16];
	struct thread_struct thread;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* Before 5.14 (commit 2f064a59a11f "sched: Change task_struct::state"). */
struct task_struct___old {
	volatile long state;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif

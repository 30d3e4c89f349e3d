/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a system call that a thread is blocked in says of the wait. */
#ifndef DBPROF_BPF_SYSTEM_CALLS_H
#define DBPROF_BPF_SYSTEM_CALLS_H

#include "vmlinux.h"

#if defined(__TARGET_ARCH_x86)
#include <asm/unistd_64.h>
#elif defined(__TARGET_ARCH_arm64)
#include <asm/unistd.h>
#endif

#include <bpf/bpf_core_read.h>

#include "arch.h"
#include "dbprof.h"

/*
 * Which of DBSP's storage reasons a system call under a BlockingFor guard belongs to
 * (src/storage/backend/posixio_impl.rs says which calls it makes under which guard).
 */
static __always_inline __u32 storage_reason(long call)
{
	switch (call) {
	case __NR_read:
	case __NR_readv:
	case __NR_pread64:
	case __NR_preadv:
	case __NR_preadv2:
		return DBPROF_STORAGE_READ;
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
		return DBPROF_STORAGE_WRITE;
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_syncfs:
	case __NR_sync_file_range:
		return DBPROF_STORAGE_SYNC;
	default:
		/* open, stat, rename, unlink, readdir, ...: all the rest that DBSP guards. */
		return DBPROF_STORAGE_METADATA;
	}
}

/* Whether DBSP may make the call under such a guard: not a park, and not in user mode. */
static __always_inline bool may_be_guarded(long call)
{
	switch (call) {
	case -1:
	case __NR_futex:
	case __NR_epoll_pwait:
#ifdef __NR_epoll_wait
	case __NR_epoll_wait:
#endif
		return false;
	default:
		return true;
	}
}

#define FILE_TYPE 0170000 /* include/uapi/linux/stat.h */
#define FILE_FIFO 0010000
#define FILE_SOCK 0140000

/* What kind of file the first argument of the thread's system call names. */
static __always_inline __u32 file_cause(struct task_struct *task, struct pt_regs *regs)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	__u32 descriptor = first_argument(regs);
	struct file **place, *file = NULL;
	__u16 mode;

	if (!table || descriptor >= BPF_CORE_READ(table, max_fds))
		return DBPROF_CAUSE_OTHER;
	place = BPF_CORE_READ(table, fd) + descriptor;
	if (bpf_probe_read_kernel(&file, sizeof(file), place) || !file)
		return DBPROF_CAUSE_OTHER;
	mode = BPF_CORE_READ(file, f_inode, i_mode);
	if ((mode & FILE_TYPE) == FILE_SOCK)
		return DBPROF_CAUSE_SOCKET;
	return (mode & FILE_TYPE) == FILE_FIFO ? DBPROF_CAUSE_PIPE : DBPROF_CAUSE_OTHER;
}

static __always_inline __u32 blocked_cause(struct task_struct *task, struct pt_regs *regs,
					   long call)
{
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return DBPROF_CAUSE_BLOCK_IO;
	switch (call) {
	case -1:
		return DBPROF_CAUSE_PAGE_FAULT; /* no system call: an exception */
	case __NR_futex:
		return DBPROF_CAUSE_FUTEX;
	case __NR_epoll_pwait:
#ifdef __NR_epoll_pwait2
	case __NR_epoll_pwait2:
#endif
	case __NR_ppoll:
	case __NR_pselect6:
#ifdef __NR_epoll_wait
	case __NR_epoll_wait:
	case __NR_poll:
	case __NR_select:
#endif
		return DBPROF_CAUSE_EPOLL;
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_syncfs:
	case __NR_sync_file_range:
	case __NR_pread64:
	case __NR_preadv:
	case __NR_preadv2:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
		/* Waits for the journal are not marked as I/O, but that is what they are. */
		return DBPROF_CAUSE_BLOCK_IO;
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
		return DBPROF_CAUSE_SLEEP;
	case __NR_recvfrom:
	case __NR_recvmsg:
	case __NR_recvmmsg:
	case __NR_sendto:
	case __NR_sendmsg:
	case __NR_sendmmsg:
	case __NR_accept:
	case __NR_accept4:
	case __NR_connect:
		return DBPROF_CAUSE_SOCKET;
	case __NR_read:
	case __NR_readv:
	case __NR_write:
	case __NR_writev:
		return file_cause(task, regs);
	default:
		return DBPROF_CAUSE_OTHER;
	}
}

#endif

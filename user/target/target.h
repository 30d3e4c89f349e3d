/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process to be profiled, as /proc and its executable describe it.
 */
#ifndef DBPROF_TARGET_TARGET_H
#define DBPROF_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/elf_image.h"
#include "target/memory.h"
#include "target/pipeline.h"
#include "util/fail.h"

struct target_thread {
	pid_t tid;
	char comm[16]; /* TASK_COMM_LEN, cut by the kernel */
	int worker;    /* N of "dbsp-worker-N", -1 for other threads; see threads.c when N > 999 */
	uint64_t start_ticks; /* starttime of /proc/PID/stat, tells reused ids apart */
};

struct target {
	pid_t pid;
	char *exe;	/* what /proc/PID/exe links to, for people */
	char *exe_path; /* a path that opens that very file, even if deleted or in a container */
	uint64_t load_bias; /* run-time address minus virtual address in the file */
	uint64_t start_ticks;
	int proc_dir;		     /* /proc/PID, which stays bound to this process */
	struct pipeline_names names; /* Feldera's; empty for other programs */
	struct elf_image *image;
	struct memory *memory;
	struct target_stacks *stacks; /* what target__thread_stack() remembers */
};

/*
 * Opens the process @pid of the caller's PID namespace. Returns 0, -ESRCH when there is none or
 * it has ended, -EPERM, -ENOEXEC; @fail says what to do.
 */
int target__open(pid_t pid, struct target **ret_target, struct fail *fail);
void target__close(struct target *target);

/*
 * Whether the files of its threads can be read: those of another user's take one capability more
 * than its memory. Returns 0 or -EACCES.
 */
int target__check_threads(const struct target *target, struct fail *fail);

/* Whether the process that was opened still runs (and no other one under its pid). */
bool target__alive(const struct target *target);

/* Its living threads, sorted by tid; free the array. Returns 0 or a negative errno. */
int target__threads(const struct target *target, struct target_thread **ret_threads,
		    size_t *ret_count);

/*
 * The user stack pointer of a thread, at some moment during the call: exact while it waits in the
 * kernel; of one that runs, sampled by a perf event (which needs CAP_PERFMON). The thread is not
 * stopped. Takes up to 60 ms. Returns 0, -EBUSY when it was not to be had this time, -ESRCH,
 * -EPERM.
 */
int target__stack_pointer(const struct target *target, pid_t tid, uint64_t *ret_sp);

/*
 * The part of a thread's stack worth scanning: from its stack pointer to the end of the mapping,
 * or, without a stack pointer, all of the mapping that the pointer was in at an earlier call.
 * Refreshes the maps. Returns as target__stack_pointer(), or -EFAULT when the pointer is in no
 * readable mapping.
 */
int target__thread_stack(const struct target *target, pid_t tid, uint64_t *ret_low,
			 uint64_t *ret_high);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of /proc/PID, read through a directory that stays bound to one process: when it ends,
 * reads fail with -ESRCH, also if another process gets its pid.
 */
#ifndef DBPROF_TARGET_PROC_H
#define DBPROF_TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	char comm[16];
	char state;	      /* 'R', 'S', 'Z', ... */
	uint64_t start_ticks; /* starttime, clock ticks since boot */
};

/* Opens /proc/@pid. Returns a file descriptor, -ESRCH or another negative errno. */
int proc__open(pid_t pid);

/*
 * Reads the file @name below @dir, up to @max bytes. Returns 0; -EFBIG over @max; -ESRCH when the
 * process or thread is gone. *ret_text ends with a NUL; free it. @ret_len may be NULL.
 */
int proc__read(int dir, const char *name, size_t max, char **ret_text, size_t *ret_len);

/* The ids of its threads, ascending; free the array. */
int proc__threads(int dir, pid_t **ret_tids, size_t *ret_count);

/* Parses "stat" or "task/TID/stat" below @dir. */
int proc__stat(int dir, const char *name, struct proc_stat *ret_stat);

/* The number behind "@key:" in "status" below @dir. Returns -ENODATA when there is none. */
int proc__status_number(int dir, const char *key, long *ret_number);

/*
 * Whether the processes of that time namespace see @clock, "monotonic" or "boottime", set off
 * against the host's (time_namespaces(7)). NULL: any of them.
 */
bool proc__clock_differs(int dir, const char *clock);

/*
 * The prefix of /proc files of a thread that still has the process's memory: "" for the main
 * thread, "task/TID/" when that one has exited before the others. Returns -ENODATA when no
 * thread has memory: a kernel thread or a zombie.
 */
int proc__living_prefix(int dir, char *ret_prefix, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many uprobes by one link (kernel 6.6+), which the packaged libbpf has no call for.
 *
 * A perf uprobe with a pid makes every context switch of the machine dearer; one uprobe_multi link
 * with a pid does not, needs no CAP_SYS_ADMIN and no tracefs.
 */
#ifndef DBPROF_SESSION_UPROBES_H
#define DBPROF_SESSION_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* BPF_TRACE_UPROBE_MULTI of enum bpf_attach_type, include/uapi/linux/bpf.h since 6.6. */
#define UPROBE_MULTI_ATTACH_TYPE 48

/* Whether the kernel has uprobe_multi links. Needs CAP_BPF and CAP_PERFMON; false without. */
bool uprobe_multi__supported(void);

/*
 * Whether their pid filter can be trusted: before 6.10 (46ba0e49b642 "bpf: Fix multi-uprobe PID
 * filtering logic") it let only the main thread through.
 */
bool uprobe_multi__filters_processes(void);

/*
 * Attaches the program @prog_fd at @count file offsets of @path, with a cookie each, in the process
 * @pid (0: in every one). Returns a link's file descriptor, which detaches when closed, or a
 * negative errno.
 */
int uprobe_multi__attach(int prog_fd, const char *path, const uint64_t *offsets,
			 const uint64_t *cookies, size_t count, pid_t pid, bool at_return);

#endif

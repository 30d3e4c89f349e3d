/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the session share; the only place that includes the skeleton. */
#ifndef DBPROF_SESSION_SESSION_INTERNAL_H
#define DBPROF_SESSION_SESSION_INTERNAL_H

#include <stdlib.h>
#include <sys/types.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "session/session.h"

#include "build/bpf/dbprof.skel.h"

/* One kind of probe in one process, or one part of the sampler. */
struct attachment {
	pid_t pid; /* 0: of no process in particular, but of a file */
	dev_t device;
	ino_t inode;
	uint64_t offset;
	enum plan_probe_kind kind;
	int fd;		       /* of a uprobe_multi link or perf event, -1 for none */
	struct bpf_link *link; /* of libbpf, NULL for none */
};

struct session {
	struct session_options options;
	struct dbprof *skeleton;
	bool multi;
	struct dbprof_trap trap;
	struct attachment *attachments;
	size_t attachment_count;
	pid_t processes[DBPROF_PROCESSES];
	uint32_t process_count;
	int stats_fd; /* the kernel counts run times while it is open */
	uint32_t frequency_hz;
	uint64_t start;
	uint64_t edge;				     /* the last one; 0 before any */
	struct dbprof_exited past[DBPROF_PROCESSES]; /* by process: exited before that */
};

/* The program that sits on probes of that kind. */
struct bpf_program *session__program(struct dbprof *skeleton, enum plan_probe_kind kind);

/*
 * What the kernel calls the process @pid of our PID namespace, which makes a difference in a nested
 * one. Returns 0, -ESRCH, another negative errno.
 */
int session__kernel_pid(struct session *session, pid_t pid, uint32_t *ret_pid);

/* Keeps an attachment until it is dropped; takes it over also on failure. */
int session__keep(struct session *session, struct attachment attachment);

/* Makes the sums of a process that has none yet. */
int session__begin_exited(struct session *session, pid_t pid);
/*
 * Fills in the threads that have exited: up to the last edge, or all of them. What was before the
 * edge is put away, so that this is called once for each.
 */
int session__read_exited(struct session *session, bool at_edge, struct session_data *data);

/*
 * Attaches @program at offsets of @path. Returns how many of them failed; *@ret_err says why.
 */
size_t session__attach_uprobes(struct session *session, enum plan_probe_kind kind,
			       const uint64_t *offsets, const uint64_t *cookies, size_t count,
			       const char *path, pid_t pid, int *ret_err);

#endif

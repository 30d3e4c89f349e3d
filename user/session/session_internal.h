/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the session share; the only place that includes the skeleton. */
#ifndef DBPROF_SESSION_SESSION_INTERNAL_H
#define DBPROF_SESSION_SESSION_INTERNAL_H

#include <stdlib.h>
#include <sys/types.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "session/closer.h"
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

struct process_file {
	dev_t device;
	ino_t inode;
};

/* Whom to tell of processes, while the ring is read. */
struct started_call {
	void (*found)(void *context, pid_t pid);
	void *context;
};

struct session {
	struct session_options options;
	struct dbprof *skeleton;
	bool multi;
	struct dbprof_trap trap;
	struct attachment *attachments;
	size_t attachment_count;
	/* 0: the place is free */
	pid_t processes[DBPROF_PROCESSES];
	uint32_t kernel_pids[DBPROF_PROCESSES];	     /* as the kernel numbers them */
	struct process_file files[DBPROF_PROCESSES]; /* that the probes of each are in */
	uint32_t process_count;			     /* places that were ever taken */
	uint32_t *freed; /* slots of threads that are free after the next edge */
	size_t freed_count;
	struct ring_buffer *started; /* NULL unless it discovers */
	struct started_call started_call;
	uint64_t started_lost;
	struct closer *closer;
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
/* Finds out how deep our PID namespace is nested. Returns 0 or a negative errno. */
int session__learn_level(struct session *session);

/* Keeps an attachment until it is dropped; takes it over also on failure. */
int session__keep(struct session *session, struct attachment attachment);

/* Makes the sums of a process that has none yet. */
int session__begin_exited(struct session *session, pid_t pid);
/*
 * Fills in the threads that have exited: up to the last edge, or all of them. What was before the
 * edge is put away, so that this is called once for each.
 */
int session__read_exited(struct session *session, bool at_edge, struct session_data *data);

/* Before and after the programs are loaded; discover.c. */
void session__choose_discovery(struct session *session);
int session__begin_discovery(struct session *session);
/* Hands out the slots of threads of removed processes; remove.c. */
void session__reuse_slots(struct session *session);
void session__drop_attachment(struct session *session, struct attachment *attachment);

/*
 * Attaches @program at offsets of @path. Returns how many of them failed; *@ret_err says why.
 */
size_t session__attach_uprobes(struct session *session, enum plan_probe_kind kind,
			       const uint64_t *offsets, const uint64_t *cookies, size_t count,
			       const char *path, pid_t pid, int *ret_err);

#endif

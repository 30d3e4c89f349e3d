/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs at work: loaded once, attached to any number of processes, one window at a time.
 *
 * open -> load -> add each process -> begin -> end -> detach -> read -> free.
 */
#ifndef DBPROF_SESSION_SESSION_H
#define DBPROF_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/dbprof.h"
#include "plan/plan.h"
#include "util/fail.h"

struct session;

struct session_options {
	uint32_t max_threads;  /* threads that can be observed, of all processes together */
	uint32_t max_circuits; /* circuits, likewise */
	bool perf_uprobes;     /* use perf uprobes even where the kernel has uprobe_multi */
};

/* What the programs have counted, copied from the maps. */
struct session_data {
	struct dbprof_thread *threads;
	size_t thread_count;
	uint32_t *exited_tgids;
	struct dbprof_exited *exited; /* by process: threads that are gone from the former */
	size_t exited_count;
	struct dbprof_circuit_key *circuit_keys;
	struct dbprof_circuit *circuits;
	size_t circuit_count;
	struct dbprof_losses losses;
	uint64_t missed; /* program runs that the kernel skipped */
};

/*
 * Checks what the programs need of kernel and privileges. Returns 0, -EPERM naming the missing
 * capabilities, -ENOTSUP naming the missing kernel feature.
 */
int session__check(struct fail *fail);

int session__open(const struct session_options *options, struct session **ret_session,
		  struct fail *fail);
/* Loads the programs into the kernel and attaches those on the scheduler. */
int session__load(struct session *session, struct fail *fail);
/*
 * Puts the plan's probes into the process @pid, whose executable is @path. Probes that fail are
 * counted in *@ret_failed; it is an error when no step could be probed.
 */
int session__add(struct session *session, const struct plan *plan, pid_t pid, const char *path,
		 size_t *ret_failed, struct fail *fail);
/* Opens the window; returns with *@ret_start (CLOCK_MONOTONIC, ns) passed. */
int session__begin(struct session *session, uint64_t *ret_start);
/* Closes the window; returns when its end has passed and no program is writing any more. */
int session__end(struct session *session, uint64_t *ret_end);
/* Takes the probes out. They also go when the process does, however it ends. */
int session__detach(struct session *session);
int session__read(struct session *session, struct session_data **ret_data);
void session__free(struct session *session);
void session_data__free(struct session_data *data);

/* What a probe's trap costs here, measured when the programs were loaded. */
struct dbprof_trap session__trap(const struct session *session);

/* "uprobe_multi" or "perf uprobes", for people. */
const char *session__uprobe_kind(const struct session *session);

#endif

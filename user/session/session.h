/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs at work: loaded once, attached to any number of processes, one window at a time.
 *
 * open -> load -> add each process -> begin -> end -> read -> free, which detaches. Between begin
 * and end any number of edges may divide the window: mark_edge -> read_edge; and processes may come
 * (join) and go (remove).
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
	uint32_t max_threads;	/* threads that can be observed, of all processes together */
	uint32_t max_circuits;	/* circuits of workers, likewise */
	uint32_t max_operators; /* operators of workers, likewise */
	bool perf_uprobes;	/* use perf uprobes even where the kernel has uprobe_multi */
	bool discover;		/* tell of processes in which a DBSP worker starts */
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
	struct dbprof_operator_key *operator_keys;
	struct dbprof_operator *operators;
	size_t operator_count;
	struct dbprof_losses losses;
	uint64_t missed; /* program runs that the kernel skipped */
	uint32_t frequency_hz;
};

/* Sets of probe kinds: a bit for each enum plan_probe_kind. */
#define SESSION_KIND(kind) (1U << (kind))
#define SESSION_PARK_KINDS (SESSION_KIND(PLAN_PARK) | SESSION_KIND(PLAN_UNPARK))
#define SESSION_STEP_KINDS                                              \
	(SESSION_KIND(PLAN_STEP_BEGIN) | SESSION_KIND(PLAN_STEP_END) |  \
	 SESSION_KIND(PLAN_STEP_LEFT) | SESSION_KIND(PLAN_POLL_ENTER) | \
	 SESSION_KIND(PLAN_POLL_LEAVE))

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
 * Puts those probes of the plan that are of the @kinds into the process @pid, whose executable is
 * @path. Probes that fail are counted in *@ret_failed; it is an error when no step could be probed.
 */
int session__add(struct session *session, const struct plan *plan, uint32_t kinds, pid_t pid,
		 const char *path, size_t *ret_failed, struct fail *fail);
/*
 * Takes the probes of the @kinds out of the process @pid. Probes that fire in all processes, on
 * kernels that have no others, stay.
 */
void session__drop(struct session *session, pid_t pid, uint32_t kinds);
/*
 * Tells the programs what they must know of a process; the first time makes it a profiled one, so
 * that this comes before its probes. Returns 0, -E2BIG, another errno.
 */
int session__set_process(struct session *session, pid_t pid, const struct dbprof_process *process);
/*
 * Lets a process count that was told with `since` at its largest, after its probes were put in:
 * from the moment *@ret_start on, which has passed on return. @process is told again with it.
 */
int session__join(struct session *session, pid_t pid, struct dbprof_process *process,
		  uint64_t *ret_start);
/*
 * Forgets a process that has ended or is to be profiled no more: takes its probes out and deletes
 * all that is kept of it. Its threads' slots are free after the next edge.
 */
void session__remove(struct session *session, pid_t pid);
/* Processes that are profiled now. */
size_t session__processes(const struct session *session);
/*
 * Makes room for what the programs note of a thread of our PID namespace. Without it they do so
 * themselves, in the middle of a context switch, where the kernel may have no memory at hand. To be
 * called before the process is told: what was noted of the thread is forgotten.
 */
void session__expect_thread(struct session *session, pid_t tid);
/*
 * Tells them that a thread drives a circuit, and where the engine keeps what it has waited, by
 * reason (0: unknown).
 */
int session__add_worker(struct session *session, pid_t tid, uint64_t idle_totals);
/* Forgets it. */
void session__remove_worker(struct session *session, pid_t tid);
/* Starts the sampler: a timer on each CPU. */
int session__sample(struct session *session, uint32_t frequency_hz, struct fail *fail);
/* Stops it, until it is started again. */
void session__stop_sampling(struct session *session);
/* What the task entry probe has measured of a frame of the process; 0 when it was not hit. */
uint64_t session__entry_depth(const struct session *session, pid_t pid, unsigned int frame);

/* Opens the window; returns with *@ret_start (CLOCK_MONOTONIC, ns) passed. */
int session__begin(struct session *session, uint64_t *ret_start);
/* Closes the window; returns when its end has passed and no program is writing any more. */
int session__end(struct session *session, uint64_t *ret_end);
/*
 * Divides the window at the moment *@ret_edge (CLOCK_MONOTONIC, ns): returns when that has passed.
 * Nothing stops meanwhile: what is read then was counted from the begin up to the edge, exactly.
 */
int session__mark_edge(struct session *session, uint64_t *ret_edge);
/* What was counted up to the last edge; once after each. */
int session__read_edge(struct session *session, struct session_data **ret_data);
/* What was counted of one circuit up to now. Returns 0, -ENOENT when it has made no step. */
int session__circuit(const struct session *session, const struct dbprof_circuit_key *key,
		     struct dbprof_circuit *ret_circuit);
/* Takes everything out. It also goes when the process does, however it ends. */
int session__detach(struct session *session);
int session__read(struct session *session, struct session_data **ret_data);
void session__free(struct session *session);
void session_data__free(struct session_data *data);

/* What a probe's trap costs here, measured when the programs were loaded. */
struct dbprof_trap session__trap(const struct session *session);
/* Makes the kernel count run times of BPF programs, which costs a little itself. */
void session__measure_programs(struct session *session, bool on);
/* Run time of all programs, as far as the kernel counted it (it needs CAP_SYS_ADMIN for that). */
uint64_t session__program_ns(const struct session *session);
/* Run time of those on uprobes alone. */
uint64_t session__probe_ns(const struct session *session);
/* Hits of probes in the window so far. */
uint64_t session__hits(const struct session *session);

/* What could not be done since the programs were loaded, and how often the kernel skipped one. */
void session__losses(const struct session *session, struct dbprof_losses *ret_losses,
		     uint64_t *ret_missed);
/* How full the maps are: entries in use, and for how many there is room. */
struct session_fill {
	const char *map; /* "threads", "circuits", "operators", "processes" */
	uint64_t used;
	uint64_t room;
};
#define SESSION_FILLS 4
void session__fill(const struct session *session, struct session_fill ret_fills[SESSION_FILLS]);
/* Links and samplers that are in the kernel now. */
size_t session__attachments(const struct session *session);

/*
 * With options.discover: a file descriptor that is readable when a DBSP worker has started in some
 * process; -1 where the kernel cannot tell.
 */
int session__started_fd(const struct session *session);
/*
 * Calls @found for each of these processes. Returns whether some could not be told of since the
 * last call, so that all have to be looked at.
 */
bool session__read_started(struct session *session, void (*found)(void *context, pid_t pid),
			   void *context);

/* Whether probes are those of uprobe_multi, which take no CAP_SYS_ADMIN. */
bool session__is_multi(const struct session *session);
/* "uprobe_multi" or "perf uprobes", for people. */
const char *session__uprobe_kind(const struct session *session);

#endif

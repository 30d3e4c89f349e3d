/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the daemon share. */
#ifndef DBPROF_SERVE_SERVE_INTERNAL_H
#define DBPROF_SERVE_SERVE_INTERNAL_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "export/metrics_sums.h"
#include "serve/serve.h"
#include "snapshot/meter.h"
#include "snapshot/series.h"
#include "store/store.h"

#define SERVE_PROCESSES_MAX 1024 /* that are known at once, also of those not profiled */
#define SERVE_ENDED_MAX	    64	 /* of them, ended ones whose sums are still to be read */

enum served_state {
	SERVED_STARTING, /* looked at, or about to be; its circuits may not be built yet */
	SERVED_PROFILED,
	SERVED_REFUSED, /* cannot be profiled, for a reason; tried again */
	SERVED_ENDED,	/* its sums stay for a while, so that they can be read once more */
};

struct profile_job;

/* A process that has had a DBSP worker. */
struct served {
	pid_t pid;
	enum served_state state;
	int pidfd; /* readable when it has ended */
	bool ended;
	bool execs; /* another program runs in it; it has not ended */
	/* The executable, told apart from that of another exec. */
	dev_t exe_device;
	ino_t exe_inode;
	char reason[sizeof(((struct fail *)0)->text)]; /* why it is not profiled */
	unsigned int tries;
	uint64_t try_at; /* CLOCK_MONOTONIC, ns, like all that follow */
	uint64_t poll_at;
	uint64_t busy_until; /* workers may come: polled often */
	uint64_t ready_by;   /* circuits that are not built by then are waited for no longer */
	uint64_t ended_at;
	struct observer *observer;
	uint64_t start; /* of its first window */
	struct series *series;
	struct metrics_sums *sums;
	struct dbprof_losses losses_before; /* it came */
	uint64_t missed_before;
	struct cost_reading cost_until; /* the end of its last window */
	clockid_t clock;		/* its CPU time */
	uint64_t ran_ns;		/* by that clock, at the last look */
	bool parks_dropped;
	bool in_turns;		 /* its steps were not watched all the time */
	struct profile_job *job; /* the profile that is being taken of it; NULL for none */
};

/* What went wrong since the start, by what was being done. */
struct serve_errors {
	uint64_t attach;
	uint64_t windows;
	uint64_t edges;
	uint64_t discovery;
	uint64_t profiles; /* on demand */
	uint64_t store;
};

struct serve {
	struct serve_options options;
	struct session *session;
	struct served *processes[SERVE_PROCESSES_MAX];
	size_t process_count;
	int epoll;
	int signals;
	bool stop;
	bool asked; /* the server has something to do */
	uint64_t start;
	uint64_t edge_at; /* the next end of a window */
	uint64_t scan_at;
	uint64_t budget_at;
	uint64_t turn_since; /* what the cost is looked at for */
	bool in_turns;	     /* steps were not watched all the time */
	bool rests;	     /* they are not watched now */
	struct cost_meter meter;
	struct cost_reading cost_until;
	struct metrics_cost cost;
	uint64_t targets_ran_ns;
	uint64_t tick_ns;
	uint32_t frequency_hz; /* of the sampler; 0 while it rests */
	struct http_server *http;
	struct store *store; /* NULL without one */
	bool store_fails;    /* which has been said */
	struct serve_errors errors;
	uint64_t attached; /* so far */
	uint64_t detached;
};

void serve__say(struct serve *serve, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens the server: routes.c. */
int serve__listen(struct serve *serve, struct fail *fail);

/* Processes that come: discover.c. */

/* A DBSP worker has started in the process: it is new, or another program by exec. */
void serve__found(struct serve *serve, pid_t pid);
/* Looks at all processes of the host. */
void serve__scan(struct serve *serve);
/* Reads what the kernel tells of new ones. */
void serve__read_started(struct serve *serve);

/* The list of them: processes.c. */

struct served *serve__process(const struct serve *serve, pid_t pid);
/* NULL when there is no room or the process has gone. */
struct served *serve__add_process(struct serve *serve, pid_t pid);
/* Forgets the process at @index of the list. */
void serve__remove_process(struct serve *serve, size_t index);
bool served__has_ended(const struct served *process);
/* Notes which program it runs; whether that is another one than before. */
bool served__changes_exe(struct served *process);

/* From a process that was found to one that is profiled: attach.c. */

void serve__try_process(struct serve *serve, struct served *process, uint64_t now);
/* After its last window. */
void serve__detach_process(struct serve *serve, struct served *process);

/* While it is profiled: tend.c. */

/* Does what is due for each process. Returns when something is due next. */
uint64_t serve__tend(struct serve *serve, uint64_t now);
/* Whether the last window of some process has to be taken. */
bool serve__has_ended(const struct serve *serve);
/* Takes what costs too much out of the processes. */
void serve__keep_budget(struct serve *serve, uint64_t now);
/* Starts the sampler for the first process that needs it and stops it after the last. */
int serve__choose_sampler(struct serve *serve, bool wanted, struct fail *fail);

/* Ends of windows: windows.c. */

/* An edge for all that need one now: all processes at the interval's end, or those that ended. */
void serve__mark_edge(struct serve *serve, uint64_t now);

/* Fills in what a window of the process cost, from one reading to another. */
void serve__set_cost(const struct serve *serve, const struct served *process,
		     const struct cost_reading *from, const struct cost_reading *to,
		     struct snapshot *window);

/* Profiles on demand: jobs.c. */

/*
 * Gets the window, NULL when there is none and then why not. The window and its graphs are lent for
 * the call.
 */
typedef void profile_done(void *context, const struct snapshot *window, const char *why);

/*
 * Takes a profile of the next @duration_ns. Returns 0; -ESRCH when the process is not profiled;
 * -EBUSY when one is being taken of it.
 */
int serve__begin_profile(struct serve *serve, pid_t pid, uint64_t duration_ns, profile_done *done,
			 void *context, struct profile_job **ret_job);
/* @done is not called any more. */
void serve__cancel_profile(struct serve *serve, struct profile_job *job);
/* Whether an edge is needed for the job @now; when it will be. */
bool profile_job__is_due(const struct profile_job *job, uint64_t now);
uint64_t profile_job__due_at(const struct profile_job *job);
/* At an edge, with the snapshot of the process from its start; NULL when it could not be had. */
void serve__advance_job(struct serve *serve, struct served *process, const struct snapshot *until,
			uint64_t edge, const struct cost_reading *cost);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon: finds every DBSP process of the host, profiles all of them at once and all the time,
 * and keeps what they add up to.
 *
 * One thread, one loop, one set of programs in the kernel. A window of each process ends every
 * interval and is added to the sums that its metrics are.
 */
#ifndef DBPROF_SERVE_SERVE_H
#define DBPROF_SERVE_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "http/http.h"
#include "snapshot/observer.h"
#include "util/fail.h"

struct serve;

struct serve_options {
	struct observer_options observer;
	uint64_t interval_ns;
	double budget;		/* share of the processes' CPU time that profiling may cost */
	size_t shown_operators; /* of each process, in its metrics */
	uint32_t max_threads;	/* of all processes together, as the following */
	uint32_t max_circuits;
	uint32_t max_operators;
	bool perf_uprobes;
	struct http_options http;
	const char *store; /* a folder to keep a profile of each window in; NULL for none */
	uint64_t keep;	   /* bytes of it */
	/* One line for people, without a newline: who came, who went, what failed. */
	void (*say)(void *context, const char *line);
	void *context;
};

/*
 * Loads the programs and looks for processes. Signals that end the daemon are blocked from here on
 * and read by serve__run(). Returns 0, or as session__check(), session__load().
 */
int serve__open(const struct serve_options *options, struct serve **ret_serve, struct fail *fail);

/*
 * Runs until SIGTERM or SIGINT comes. Returns 0 then, or a negative errno when the loop itself
 * fails; what fails of a process is said, counted and tried again.
 */
int serve__run(struct serve *serve, struct fail *fail);

/* Takes everything out of the kernel. NULL is fine. */
void serve__close(struct serve *serve);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks a pipeline for its profile, beside everything else: a pipeline answers between two steps
 * only, which may take as long as a step does.
 *
 * A thread of its own speaks HTTP (libcurl) and puts the answer into a file without a name. Only
 * http and https, also in redirects, of which it follows a few, and none when there are headers,
 * which are meant for one server. Certificates are checked.
 */
#ifndef DBPROF_STATE_FETCH_H
#define DBPROF_STATE_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "state/headers.h"
#include "util/fail.h"

struct fetch_options {
	const char *url;	       /* as url__parse() gives it */
	const struct headers *headers; /* must outlive the fetch */
	uint64_t timeout_ns;	       /* from the start; 0: until it is ended */
	uint64_t max_bytes;	       /* of the answer */
	bool retry;		       /* while nobody listens there yet */
};

struct fetch;

/* Returns 0 or a negative errno. Signals that are blocked here are blocked in the thread. */
int fetch__start(const struct fetch_options *options, struct fetch **ret_fetch, struct fail *fail);

/* A descriptor that is readable once there is an answer or an error. */
int fetch__event(const struct fetch *fetch);
/* CLOCK_MONOTONIC ns of the request, and how long it has taken once it is over. */
uint64_t fetch__started(const struct fetch *fetch);
uint64_t fetch__took(const struct fetch *fetch);

/*
 * Ends it, at once if it is not over. Returns the descriptor of the file with the answer, which is
 * the caller's, or a negative errno with a sentence that begins with "the pipeline": -ETIMEDOUT
 * when there was no answer in time.
 */
int fetch__end(struct fetch *fetch, struct fail *fail);
/* Frees it, ended or not. NULL is fine. */
void fetch__free(struct fetch *fetch);

#endif

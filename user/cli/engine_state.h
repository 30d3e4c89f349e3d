/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's own profile beside ours, as --state asks for it. */
#ifndef DBPROF_CLI_ENGINE_STATE_H
#define DBPROF_CLI_ENGINE_STATE_H

#include <stdbool.h>

#include "cli/options.h"
#include "model/source.h"
#include "util/fail.h"

struct engine_state;

/*
 * Before the window: checks the URL and reads the headers. *ret_state is NULL when no profile was
 * asked for; all of the following do nothing then. Returns 0 or a negative errno.
 */
int engine_state__open(const struct state_options *options, struct engine_state **ret_state,
		       struct fail *fail);
/* NULL is fine. */
void engine_state__free(struct engine_state *state);

/* At the window's begin: asks the pipeline. With @retry again while nobody listens yet. */
void engine_state__begin(struct engine_state *state, bool retry);

/*
 * After the window: waits for an answer, a second or until the time limit
 * that was given, and no longer than until a signal can be read from @signals (-1: none); reads a
 * file.
 */
void engine_state__end(struct engine_state *state, int signals);

/*
 * Puts both profiles together: *@source, ours, is replaced by one that owns it. The engine's may be
 * unfit, then it is ours and says so. Returns 0, or -ENOMEM and nothing has changed.
 */
int engine_state__join(struct engine_state *state, struct profile_source **source);

/* Why the profile has no metrics of the engine; NULL when it has, or none were asked for. */
const char *engine_state__error(const struct engine_state *state);
/* Says so on stderr, when it is written all the same. */
void engine_state__complain(const struct engine_state *state);
/* Where they came from, for people. */
const char *engine_state__from(const struct engine_state *state);

#endif

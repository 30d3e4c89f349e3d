/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile that is asked for one worker after the other, where a source tells all of them.
 *
 * Two sources cannot be told side by side by one thread, so that this one is told by a thread of
 * its own, which stops after each worker until the next one is wanted. One worker at a time is in
 * memory.
 */
#ifndef DBPROF_STATE_PULL_H
#define DBPROF_STATE_PULL_H

#include "model/source.h"

struct pull;

/* The source belongs to the pull until its end. Returns 0, -ENOMEM or another negative errno. */
int pull__start(struct profile_source *source, struct pull **ret_pull);

/*
 * The next worker, valid until the next call. Returns 0, -ENODATA when there is no further one, or
 * the error that ended the telling, with its sentence in @fail.
 */
int pull__next(struct pull *pull, const struct profile_worker **ret_worker, struct fail *fail);

/* Ends the telling, wherever it is. NULL is fine. */
void pull__end(struct pull *pull);

#endif

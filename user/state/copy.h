/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_STATE_COPY_H
#define DBPROF_STATE_COPY_H

#include "model/model.h"
#include "util/fail.h"

#define COPY_READINGS_MAX 16384 /* of one node; the engine has some eighty metrics */
#define COPY_VALUE_DEPTH  16	/* maps in maps; the engine has one in another at most */

/*
 * Adds a copy of @node and its readings to @worker; the strings go into the pool of @pool. Returns
 * 0, -ENOMEM, or -EFBIG when it is larger than a node of a profile can be.
 */
int copy__node(struct profile *pool, struct profile_worker *worker, const struct profile_node *node,
	       struct fail *fail);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_MODEL_SUMMED_SOURCE_H
#define DBPROF_MODEL_SUMMED_SOURCE_H

#include "model/source.h"

/*
 * The profile of @from with one worker, to which all of its workers are added up:
 * WorkerProfile::merge() of src/profile.rs, the others into the first. What does not add up (texts,
 * flags, plain numbers, lists) stays as the first worker has it. What the profile says beyond
 * readings and graph is kept.
 *
 * @from must outlive it; memory is that of one worker. Returns 0, or a negative errno with its
 * sentence in
 * @fail.
 */
int summed_source__open(struct profile_source *from, struct profile_source **ret_source,
			struct fail *fail);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One metric over all nodes: what WorkerProfile and DbspProfile of src/profile.rs answer.
 */
#ifndef DBPROF_MODEL_ATTRIBUTE_H
#define DBPROF_MODEL_ATTRIBUTE_H

#include "model/source.h"

#define USED_MEMORY_BYTES	 "used_memory_bytes"
#define SPINE_STORAGE_SIZE_BYTES "spine_storage_size_bytes"

struct attribute_query {
	const char *metric;	      /* NULL: all metrics */
	const struct node_path *node; /* NULL: all nodes */
	bool one_worker;	      /* only the one of that place in the profile */
	size_t worker;
};

/* What is told during the call only. Returns 0, or a negative errno that ends the telling. */
typedef int (*attribute_tell)(void *context, size_t worker, const struct node_path *node,
			      const struct profile_reading *reading);

/*
 * attribute_profile(), get_node_profile(): tells the readings that the query asks for, in the order
 * of the profile. Those with labels are told, too, which the engine's leaves out. Returns 0, an
 * error with its sentence in @fail, or what @tell returned.
 */
int attribute__each(struct profile_source *source, const struct attribute_query *query,
		    attribute_tell tell, void *context, struct fail *fail);

/*
 * attribute_profile_as_bytes(): tells a metric's readings without labels, which must all be bytes;
 * when one is of another kind, none is told, and it fails as attribute__total_as_bytes() does.
 */
int attribute__profile_as_bytes(struct profile_source *source, const struct attribute_query *query,
				attribute_tell tell, void *context, struct fail *fail);

/* A sum modulo 2^64, as the engine's release build adds up. */
struct attribute_total {
	uint64_t total;
	uint64_t root;	   /* the part of it that comes from root circuits */
	uint64_t readings; /* that were added up */
};

/*
 * attribute_total_as_bytes(): the sum of a metric's readings without labels, which must all be
 * bytes. Returns 0, or a negative errno; -EDOM when one is of another kind, and then the sentence
 * in @fail names its value. The root circuit has the sum of its nodes as a reading of its own, and
 * the engine adds that up, too.
 */
int attribute__total_as_bytes(struct profile_source *source, const struct attribute_query *query,
			      struct attribute_total *ret_total, struct fail *fail);
/* attribute_total_as_count(): the same for counts, with those of all labels. */
int attribute__total_as_count(struct profile_source *source, const struct attribute_query *query,
			      struct attribute_total *ret_total, struct fail *fail);

/* total_used_bytes() and total_storage_size(). */
int attribute__total_used_bytes(struct profile_source *source, struct attribute_total *ret_total,
				struct fail *fail);
int attribute__total_storage_size(struct profile_source *source, struct attribute_total *ret_total,
				  struct fail *fail);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_STORE_STORE_INTERNAL_H
#define DBPROF_STORE_STORE_INTERNAL_H

#include "store/store.h"

#define STORE_BLOCK 4096 /* bytes in whose multiples files are counted */

struct store {
	char *path;
	int dir;
	bool writes; /* the folder is locked for us */
	uint64_t keep;
	struct store_file *files; /* in the order of time */
	size_t count;
	size_t capacity;
	uint64_t bytes; /* of all, in whole blocks */
};

static inline uint64_t store__blocks(uint64_t size)
{
	return (size + STORE_BLOCK - 1) / STORE_BLOCK * STORE_BLOCK;
}

/* Puts a file into the list, at its place. Returns 0 or -ENOMEM. */
int store__add(struct store *store, const struct store_file *file);

/* Reads the list from the folder, and removes what an earlier writer has left if it writes. */
int store__scan(struct store *store, struct fail *fail);

/* A new file under a temporary name. Returns its descriptor or a negative errno. */
#define STORE_TEMPORARY_SIZE 48
int store__temporary(struct store *store, char name[STORE_TEMPORARY_SIZE]);

/* Removes files until the rest fits into the room. */
int store__trim(struct store *store, struct fail *fail);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which profiles of a store go when it is full, so that what stays covers the whole time evenly.
 */
#ifndef DBPROF_STORE_RETENTION_H
#define DBPROF_STORE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct retention_file {
	int64_t unix_ns;  /* begin of its window */
	uint64_t process; /* the same number for files of one process */
	uint64_t size;
	bool empty;  /* nothing was measured in it */
	bool remove; /* the answer */
};

/*
 * Sets remove in as few of the @count files, sorted by time, as it takes for the rest to have at
 * most @keep bytes. Returns 0 or -ENOMEM, and then nothing is to be removed. The same files give
 * the same answer.
 *
 * Empty ones go first. Then time is cut into slots of 1 s, of 2 s, of 4 s and so on: of the files
 * of a process that lie in one slot the first one stays, and old slots are thinned out before
 * younger ones. First and last file of each process stay until nothing else is left, or until such
 * files have half of the room; then they are thinned out in the same way, all processes together.
 * The newest file that is not empty always stays.
 */
int retention__choose(struct retention_file *files, size_t count, uint64_t keep);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A folder of snapshot files, one for each process and interval, of limited size.
 *
 * A file is written under a temporary name, synced and renamed, so that under its own name it is
 * whole, whatever happens when. Names tell everything that is needed to find a profile. Files with
 * other names are left alone; links are not followed.
 */
#ifndef DBPROF_STORE_STORE_H
#define DBPROF_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "snapshot/snapshot.h"
#include "store/stored_name.h"
#include "util/fail.h"

struct store;

struct store_file {
	struct stored_name name;
	uint64_t size; /* bytes */
};

/*
 * Opens the folder @path, which is made if need be, to write into it: no one else may, meanwhile.
 * What an earlier writer has left unfinished is removed. @keep: bytes that its profiles may take.
 * Returns 0 or a negative errno with a sentence: -EBUSY when another one writes, -ENOTDIR, -EACCES,
 * -EROFS, ...
 */
int store__open(const char *path, uint64_t keep, struct store **ret_store, struct fail *fail);

/* Opens it to find and read, also while another one writes. */
int store__open_to_read(const char *path, struct store **ret_store, struct fail *fail);

/* NULL is fine. */
void store__close(struct store *store);

/*
 * Keeps a profile of the process that started @start_ticks after boot, as field 22 of
 * /proc/PID/stat says, and removes others until all fit (store/retention.h). Returns 0, or a
 * negative errno with a sentence, and then what was there is there still: -ENOSPC for a full disk,
 * -EFBIG for a profile larger than the whole room, -ENODATA for one without content that would need
 * another's place, -EEXIST. The store stays usable.
 */
int store__put(struct store *store, const struct snapshot *snapshot, uint64_t start_ticks,
	       struct fail *fail);

/*
 * The same for the @size bytes of a snapshot file at @data, for who has them already; @name says
 * what it holds.
 */
int store__put_bytes(struct store *store, const struct stored_name *name, const void *data,
		     size_t size, struct fail *fail);

/*
 * The files whose window touches the time from @from to @to (Unix, ns), of process @pid, 0 for all;
 * oldest first. Free the array. Returns 0 or -ENOMEM.
 */
int store__find(const struct store *store, pid_t pid, int64_t from, int64_t to,
		struct store_file **ret_files, size_t *ret_count);

/*
 * The file whose window holds the instant @at, of process @pid; 0: of the only one that there is
 * then. Without such a window the nearest one. Returns 0, -ENOENT when the store has none,
 * -ENOTUNIQ when several processes have one and the sentence names some of them.
 */
int store__at(const struct store *store, pid_t pid, int64_t at, struct store_file *ret_file,
	      struct fail *fail);

/* Opens a file of it for reading. Returns the descriptor or a negative errno with a sentence. */
int store__read(const struct store *store, const struct stored_name *name, struct fail *fail);

/* What it takes now: profiles and their bytes. */
void store__usage(const struct store *store, size_t *ret_count, uint64_t *ret_bytes);

#endif

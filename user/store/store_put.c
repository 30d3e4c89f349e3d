// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snapshot/snapshot_file.h"
#include "store/retention.h"
#include "store/store_internal.h"

/* What is to be written: a snapshot, or its bytes. */
struct content {
	const struct snapshot *snapshot;
	const void *data;
	size_t size;
};

static int write_content(const struct content *content, FILE *out)
{
	int err = 0;

	errno = 0;
	if (content->snapshot)
		err = snapshot_file__write(content->snapshot, out);
	else if (fwrite(content->data, 1, content->size, out) != content->size)
		err = errno ? -errno : -EIO;
	if (!err && fflush(out))
		err = errno ? -errno : -EIO;
	if (!err && fsync(fileno(out)))
		err = -errno;
	return err;
}

/* Writes all of it to the disk, under a temporary name. */
static int write_temporary(struct store *store, const struct content *content,
			   char temporary[STORE_TEMPORARY_SIZE], uint64_t *ret_size)
{
	int fd = store__temporary(store, temporary);
	struct stat stat = { 0 };
	FILE *out;
	int err;

	if (fd < 0)
		return fd;
	out = fdopen(fd, "w");
	if (!out)
		close(fd);
	err = out ? write_content(content, out) : -ENOMEM;
	if (!err && fstat(fd, &stat))
		err = -errno;
	if (out && fclose(out) && !err)
		err = -errno;
	if (err)
		unlinkat(store->dir, temporary, 0);
	*ret_size = (uint64_t)stat.st_size;
	return err;
}

/* Whether the profile may have a place at all. */
static int check_room(const struct store *store, const struct store_file *file, struct fail *fail)
{
	if (store__blocks(file->size) > store->keep)
		return fail__set(fail, -EFBIG,
				 "a profile of %" PRIu64 " bytes does not fit into the store %s, "
				 "which may keep %" PRIu64,
				 file->size, store->path, store->keep);
	if (file->name.quality == STORED_EMPTY &&
	    store->bytes + store__blocks(file->size) > store->keep)
		return fail__set(fail, -ENODATA,
				 "nothing was measured, and the store %s has no room for that",
				 store->path);
	return 0;
}

static int rename_there(int dir, const char *from, const char *to)
{
	struct stat stat;

	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system that cannot do that; nobody else writes here. */
	if (!fstatat(dir, to, &stat, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(dir, from, dir, to) ? -errno : 0;
}

/* A new name survives a power cut only when the folder is on the disk, too. */
static int sync_folder(const struct store *store)
{
	/* Some file systems have no fsync for folders. */
	return fsync(store->dir) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

static int keep_it(struct store *store, const char *temporary, const char *name,
		   const struct store_file *file)
{
	int err = rename_there(store->dir, temporary, name);

	if (!err)
		err = store__add(store, file);
	if (!err)
		err = sync_folder(store);
	return err;
}

static int put(struct store *store, const struct stored_name *name, const struct content *content,
	       struct fail *fail)
{
	struct store_file file = { .name = *name };
	char text[STORED_NAME_SIZE], temporary[STORE_TEMPORARY_SIZE];
	int err = stored_name__format(name, text);

	if (err)
		return fail__set(fail, err, "a profile of such a time cannot be stored");
	err = write_temporary(store, content, temporary, &file.size);
	if (!err) {
		err = check_room(store, &file, fail);
		if (!err)
			err = keep_it(store, temporary, text, &file);
		/* After the rename it is no longer there. */
		if (err)
			unlinkat(store->dir, temporary, 0);
	}
	if (err)
		return fail__set(fail, err, "cannot keep a profile in the store %s: %s",
				 store->path, strerror(-err));
	return store__trim(store, fail);
}

int store__put(struct store *store, const struct snapshot *snapshot, uint64_t start_ticks,
	       struct fail *fail)
{
	struct stored_name name = stored_name__of(snapshot, start_ticks);
	struct content content = { .snapshot = snapshot };

	return put(store, &name, &content, fail);
}

int store__put_bytes(struct store *store, const struct stored_name *name, const void *data,
		     size_t size, struct fail *fail)
{
	struct content content = { .data = data, .size = size };

	return put(store, name, &content, fail);
}

/* The same for all files of a process; start times differ by whole ticks. */
static uint64_t process_of(const struct stored_name *name)
{
	return name->start_ticks * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)name->pid;
}

/* Removes those that were chosen, from the folder and from the list. */
static int remove_chosen(struct store *store, const struct retention_file *chosen,
			 struct fail *fail)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < store->count; i++) {
		struct store_file *file = &store->files[i];
		char text[STORED_NAME_SIZE];
		bool gone = chosen[i].remove && !stored_name__format(&file->name, text) &&
			    (!unlinkat(store->dir, text, 0) || errno == ENOENT);

		if (chosen[i].remove && !gone && !err)
			err = -errno;
		if (gone)
			store->bytes -= store__blocks(file->size);
		else
			store->files[kept++] = *file;
	}
	store->count = kept;
	if (err)
		return fail__set(fail, err, "cannot remove an old profile from the store %s: %s",
				 store->path, strerror(-err));
	return 0;
}

int store__trim(struct store *store, struct fail *fail)
{
	struct retention_file *files;
	int err;

	if (store->bytes <= store->keep)
		return 0;
	files = calloc(store->count, sizeof(*files));
	if (!files)
		return -ENOMEM;
	for (size_t i = 0; i < store->count; i++) {
		const struct stored_name *name = &store->files[i].name;

		files[i] = (struct retention_file){
			.unix_ns = name->unix_ns,
			.process = process_of(name),
			.size = store__blocks(store->files[i].size),
			.empty = name->quality == STORED_EMPTY,
		};
	}
	err = retention__choose(files, store->count, store->keep);
	if (!err)
		err = remove_chosen(store, files, fail);
	free(files);
	return err;
}

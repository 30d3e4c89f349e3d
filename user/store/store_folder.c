// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_internal.h"
#include "util/array.h"

#define TEMPORARY	".dbprof-store-%016" PRIx64 ".tmp"
#define TEMPORARY_BEGIN ".dbprof-store-"
#define TEMPORARY_END	".tmp"
#define TEMPORARY_HEX	16
#define NAME_TRIES	16 /* random names that may be taken */

int store__temporary(struct store *store, char name[STORE_TEMPORARY_SIZE])
{
	int fd = -EEXIST;

	for (int i = 0; i < NAME_TRIES && fd == -EEXIST; i++) {
		uint64_t number;

		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			return -errno;
		snprintf(name, STORE_TEMPORARY_SIZE, TEMPORARY, number);
		fd = openat(store->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0)
			fd = -errno;
	}
	return fd;
}

static bool is_temporary(const char *name)
{
	size_t begin = strlen(TEMPORARY_BEGIN);

	return !strncmp(name, TEMPORARY_BEGIN, begin) &&
	       strspn(name + begin, "0123456789abcdef") == TEMPORARY_HEX &&
	       !strcmp(name + begin + TEMPORARY_HEX, TEMPORARY_END);
}

/* Whether @a comes before @b: by time, then by whose they are. */
static bool is_before(const struct stored_name *a, const struct stored_name *b)
{
	if (a->unix_ns != b->unix_ns)
		return a->unix_ns < b->unix_ns;
	if (a->window_ns != b->window_ns)
		return a->window_ns < b->window_ns;
	if (a->pid != b->pid)
		return a->pid < b->pid;
	if (a->start_ticks != b->start_ticks)
		return a->start_ticks < b->start_ticks;
	return a->quality < b->quality;
}

static int compare_files(const void *a, const void *b)
{
	const struct store_file *x = a, *y = b;

	return is_before(&x->name, &y->name) ? -1 : is_before(&y->name, &x->name);
}

int store__add(struct store *store, const struct store_file *file)
{
	struct store_file *grown =
		array__reserve(store->files, &store->capacity, store->count, sizeof(*store->files));
	size_t at = store->count;

	if (!grown)
		return -ENOMEM;
	store->files = grown;
	while (at > 0 && is_before(&file->name, &grown[at - 1].name))
		at--;
	memmove(&grown[at + 1], &grown[at], (store->count - at) * sizeof(*grown));
	grown[at] = *file;
	store->count++;
	store->bytes += store__blocks(file->size);
	return 0;
}

/* The same without the order. */
static int append(struct store *store, const struct stored_name *name, uint64_t size)
{
	struct store_file *grown =
		array__reserve(store->files, &store->capacity, store->count, sizeof(*store->files));

	if (!grown)
		return -ENOMEM;
	store->files = grown;
	grown[store->count++] = (struct store_file){ *name, size };
	store->bytes += store__blocks(size);
	return 0;
}

static int take(struct store *store, const char *text)
{
	struct stored_name name;
	struct stat stat;

	if (store->writes && is_temporary(text)) {
		if (!fstatat(store->dir, text, &stat, AT_SYMLINK_NOFOLLOW) && S_ISREG(stat.st_mode))
			unlinkat(store->dir, text, 0);
		return 0;
	}
	if (!stored_name__parse(text, &name) ||
	    fstatat(store->dir, text, &stat, AT_SYMLINK_NOFOLLOW) || !S_ISREG(stat.st_mode))
		return 0;
	return append(store, &name, (uint64_t)stat.st_size);
}

int store__scan(struct store *store, struct fail *fail)
{
	int fd = openat(store->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!folder) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return fail__set(fail, err, "cannot read the store %s: %s", store->path,
				 strerror(-err));
	}
	errno = 0;
	while (!err && (entry = readdir(folder))) {
		err = take(store, entry->d_name);
		errno = 0;
	}
	if (!err && errno)
		err = -errno;
	closedir(folder);
	if (err)
		return fail__set(fail, err, "cannot read the store %s: %s", store->path,
				 strerror(-err));
	if (store->count > 0)
		qsort(store->files, store->count, sizeof(*store->files), compare_files);
	return 0;
}

static int open_folder(const char *path, bool writes, struct store **ret_store, struct fail *fail)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->writes = writes;
	store->path = strdup(path);
	store->dir = store->path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (store->dir >= 0) {
		*ret_store = store;
		return 0;
	}
	free(store->path);
	free(store);
	return fail__set(fail, -errno, "cannot open the store %s: %s", path, strerror(errno));
}

/* No other writer, and room for at least a name: what is wrong is better said now than later. */
static int check_writable(struct store *store, struct fail *fail)
{
	char name[STORE_TEMPORARY_SIZE];
	int fd;

	if (flock(store->dir, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? fail__set(fail, -EBUSY,
					   "another dbprof-bpf writes into the store %s: give each "
					   "a folder of its own",
					   store->path)
			       : fail__set(fail, -errno, "cannot lock the store %s: %s",
					   store->path, strerror(errno));
	fd = store__temporary(store, name);
	/* A full disk is no reason not to start; there may be room later. */
	if (fd == -ENOSPC || fd == -EDQUOT)
		return 0;
	if (fd < 0)
		return fail__set(fail, fd, "cannot write into the store %s: %s", store->path,
				 strerror(-fd));
	close(fd);
	unlinkat(store->dir, name, 0);
	return 0;
}

int store__open(const char *path, uint64_t keep, struct store **ret_store, struct fail *fail)
{
	struct store *store;
	int err;

	if (mkdir(path, 0700) && errno != EEXIST)
		return fail__set(fail, -errno, "cannot make the store %s: %s", path,
				 strerror(errno));
	err = open_folder(path, true, &store, fail);
	if (err)
		return err;
	store->keep = keep;
	err = check_writable(store, fail);
	if (!err)
		err = store__scan(store, fail);
	if (!err)
		err = store__trim(store, fail);
	if (err)
		store__close(store);
	else
		*ret_store = store;
	return err;
}

int store__open_to_read(const char *path, struct store **ret_store, struct fail *fail)
{
	struct store *store;
	int err = open_folder(path, false, &store, fail);

	if (err)
		return err;
	err = store__scan(store, fail);
	if (err)
		store__close(store);
	else
		*ret_store = store;
	return err;
}

void store__close(struct store *store)
{
	if (!store)
		return;
	close(store->dir);
	free(store->files);
	free(store->path);
	free(store);
}

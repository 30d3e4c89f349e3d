// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_internal.h"

#define PIDS_TOLD 8

int store__find(const struct store *store, pid_t pid, int64_t from, int64_t to,
		struct store_file **ret_files, size_t *ret_count)
{
	struct store_file *found = calloc(store->count + 1, sizeof(*found));
	size_t count = 0;

	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < store->count; i++) {
		const struct stored_name *name = &store->files[i].name;

		if (name->unix_ns <= to && stored_name__end(name) >= from &&
		    (pid == 0 || name->pid == pid))
			found[count++] = store->files[i];
	}
	*ret_files = found;
	*ret_count = count;
	return 0;
}

/* How far the window is from the instant; 0 when that lies in it. */
static uint64_t distance(const struct stored_name *name, int64_t at)
{
	int64_t end = stored_name__end(name);

	if (at < name->unix_ns)
		return (uint64_t)name->unix_ns - (uint64_t)at;
	return at < end ? 0 : (uint64_t)at - (uint64_t)end + 1;
}

static bool is_same_process(const struct stored_name *a, const struct stored_name *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static bool is_better(const struct stored_name *name, const struct stored_name *best, int64_t at)
{
	uint64_t near = distance(name, at), nearest = distance(best, at);

	if (near != nearest)
		return near < nearest;
	return name->quality > best->quality;
}

/* Of another process, and no further away than by the length of its window. */
static bool is_rival(const struct stored_name *name, const struct stored_name *best, int64_t at)
{
	uint64_t near = distance(name, at), nearest = distance(best, at);

	return !is_same_process(name, best) && near - nearest <= (nearest ? name->window_ns : 0);
}

/* Says which processes there are to choose from. */
static int tell_rivals(const struct store *store, const struct stored_name *best, int64_t at,
		       struct fail *fail)
{
	pid_t told[PIDS_TOLD] = { best->pid };
	char list[PIDS_TOLD * 16] = "";
	size_t count = 1, len = 0;

	for (size_t i = 0; i < store->count && count < PIDS_TOLD; i++) {
		const struct stored_name *name = &store->files[i].name;
		bool known = false;

		for (size_t j = 0; j < count; j++)
			known |= told[j] == name->pid;
		if (!known && is_rival(name, best, at))
			told[count++] = name->pid;
	}
	for (size_t i = 0; i < count; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%d", i ? ", " : "",
					told[i]);
	return fail__set(fail, -ENOTUNIQ,
			 "the store %s has profiles of several processes of that time: choose one "
			 "with --pid: %s",
			 store->path, list);
}

int store__at(const struct store *store, pid_t pid, int64_t at, struct store_file *ret_file,
	      struct fail *fail)
{
	const struct store_file *best = NULL;

	for (size_t i = 0; i < store->count; i++) {
		const struct store_file *file = &store->files[i];

		if ((pid == 0 || file->name.pid == pid) &&
		    (!best || is_better(&file->name, &best->name, at)))
			best = file;
	}
	if (!best && pid)
		return fail__set(fail, -ENOENT, "the store %s has no profile of process %d",
				 store->path, pid);
	if (!best)
		return fail__set(fail, -ENOENT, "the store %s has no profile", store->path);
	for (size_t i = 0; pid == 0 && i < store->count; i++)
		if (is_rival(&store->files[i].name, &best->name, at))
			return tell_rivals(store, &best->name, at, fail);
	*ret_file = *best;
	return 0;
}

int store__read(const struct store *store, const struct stored_name *name, struct fail *fail)
{
	char text[STORED_NAME_SIZE];
	struct stat stat;
	int err = stored_name__format(name, text);
	int fd;

	if (err)
		return fail__set(fail, err, "there is no such profile in the store");
	fd = openat(store->dir, text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fail__set(fail, -errno, "cannot read %s/%s: %s", store->path, text,
				 strerror(errno));
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode))
		return fd;
	close(fd);
	return fail__set(fail, -EINVAL, "cannot read %s/%s: it is not a regular file", store->path,
			 text);
}

void store__usage(const struct store *store, size_t *ret_count, uint64_t *ret_bytes)
{
	*ret_count = store->count;
	*ret_bytes = store->bytes;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/spool.h"

#define CHUNK (64u << 10)

/* For file systems without O_TMPFILE. */
static int open_named(const char *dir)
{
	char name[4096];
	int fd;

	if (snprintf(name, sizeof(name), "%s/dbprof-XXXXXX", dir) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	return fd;
}

static int open_in(const char *dir)
{
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EOPNOTSUPP || errno == EISDIR ? open_named(dir) : -errno;
}

int spool__open(struct fail *fail)
{
	const char *dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -ENOENT;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && fd < 0; i++)
		if (dirs[i] && *dirs[i])
			fd = open_in(dirs[i]);
	if (fd < 0)
		fail__set(fail, fd, "there is no place for a temporary file: %s", strerror(-fd));
	return fd;
}

int spool__write(int fd, const void *data, size_t len)
{
	const char *from = data;

	while (len > 0) {
		ssize_t done = write(fd, from, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		from += done;
		len -= (size_t)done;
	}
	return 0;
}

static int copy(int from, int to, uint64_t max)
{
	char *buffer = malloc(CHUNK);
	uint64_t all = 0;
	int err = buffer ? 0 : -ENOMEM;

	while (!err) {
		ssize_t len = read(from, buffer, CHUNK);

		if (len == 0)
			break;
		if (len < 0) {
			err = errno == EINTR ? 0 : -errno;
			continue;
		}
		all += (uint64_t)len;
		err = all > max ? -EFBIG : spool__write(to, buffer, (size_t)len);
	}
	free(buffer);
	return err;
}

/* O_NONBLOCK: the open of a pipe would wait for its other end. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	int err = fd < 0 ? -errno : 0;

	if (!err && fstat(fd, &info))
		err = -errno;
	if (!err && !S_ISREG(info.st_mode))
		err = S_ISDIR(info.st_mode) ? -EISDIR : -EINVAL;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

int spool__copy(const char *path, uint64_t max, struct fail *fail)
{
	int from = open_file(path), fd, err;

	if (from == -EINVAL)
		return fail__set(fail, from, "it is not a file");
	if (from < 0)
		return fail__set(fail, from, "%s", strerror(-from));
	fd = spool__open(fail);
	err = fd < 0 ? fd : copy(from, fd, max);
	close(from);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (err == -EFBIG)
		return fail__set(fail, err, "it is larger than %llu MiB",
				 (unsigned long long)(max >> 20));
	return fail__set(fail, err, "it cannot be copied: %s", strerror(-err));
}

void spool__path(int fd, char path[SPOOL_PATH_MAX])
{
	snprintf(path, SPOOL_PATH_MAX, "/proc/self/fd/%d", fd);
}

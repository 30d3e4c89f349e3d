// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE 1 /* O_TMPFILE, asprintf */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/atomic_file.h"

#define NAME_TRIES 16 /* random names that may be taken */

struct atomic_file {
	FILE *stream;
	char *path;	 /* as given, for people */
	char *dir;	 /* NULL when written directly */
	char *target;	 /* where it goes, symbolic links followed */
	char *temporary; /* its name until the commit, NULL while it has none */
};

/* A free name in the folder, independent of the target's name, whose length may be at its limit. */
static char *random_name(const char *dir)
{
	uint64_t number;
	char *name;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return NULL;
	if (asprintf(&name, "%s/.dbprof-%016" PRIx64 ".tmp", dir, number) < 0)
		return NULL;
	return name;
}

/* For file systems without O_TMPFILE (NFS, some overlays). Returns the descriptor. */
static int open_named(struct atomic_file *file)
{
	int fd = -EEXIST;

	for (int i = 0; i < NAME_TRIES && fd == -EEXIST; i++) {
		char *name = random_name(file->dir);

		if (!name)
			return -ENOMEM;
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0) {
			file->temporary = name;
			return fd;
		}
		fd = -errno;
		free(name);
	}
	return fd;
}

/* Returns the descriptor of the file beside @file->target, or a negative errno. */
static int open_beside(struct atomic_file *file, const struct stat *old)
{
	int fd = open(file->dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	int err;

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		fd = open_named(file);
	else if (fd < 0)
		fd = -errno;
	if (fd < 0 || !old)
		return fd;
	/* Whose it was and who may read it stays; without the right to give it away, ours it is. */
	if (fchown(fd, old->st_uid, old->st_gid) != 0 && errno != EPERM)
		goto fail;
	if (fchmod(fd, old->st_mode & 0777) != 0)
		goto fail;
	return fd;
fail:
	err = -errno;
	close(fd);
	return err;
}

/* Sets dir and target: the file at @path, behind symbolic links if it exists. */
static int locate(struct atomic_file *file, bool exists)
{
	char *copy;

	file->target = exists ? realpath(file->path, NULL) : strdup(file->path);
	if (!file->target)
		return -errno;
	copy = strdup(file->target);
	if (!copy)
		return -ENOMEM;
	file->dir = strdup(dirname(copy));
	free(copy);
	return file->dir ? 0 : -ENOMEM;
}

/* Returns the descriptor to write to, or a negative errno. */
static int open_target(struct atomic_file *file)
{
	struct stat old;
	bool exists;
	int fd;

	if (strcmp(file->path, "-") == 0) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? -errno : fd;
	}
	if (file->path[0] == '\0')
		return -ENOENT;
	exists = stat(file->path, &old) == 0;
	if (!exists && errno != ENOENT)
		return -errno;
	if (exists ? S_ISDIR(old.st_mode) : file->path[strlen(file->path) - 1] == '/')
		return -EISDIR;
	if (exists && !S_ISREG(old.st_mode)) {
		fd = open(file->path, O_WRONLY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	fd = locate(file, exists);
	if (fd < 0)
		return fd;
	return open_beside(file, exists ? &old : NULL);
}

int atomic_file__open(const char *path, struct atomic_file **ret_file, struct fail *fail)
{
	struct atomic_file *file = calloc(1, sizeof(*file));
	int fd = -ENOMEM;

	if (file)
		file->path = strdup(path);
	if (file && file->path)
		fd = open_target(file);
	if (fd >= 0) {
		file->stream = fdopen(fd, "w");
		if (file->stream) {
			*ret_file = file;
			return 0;
		}
		close(fd);
		fd = -ENOMEM;
	}
	atomic_file__close(file);
	return fail__set(fail, fd, "cannot write %s: %s", path, strerror(-fd));
}

FILE *atomic_file__stream(struct atomic_file *file)
{
	return file->stream;
}

/* Gives the nameless file a name, which a rename needs: a link cannot replace a file. */
static int give_name(struct atomic_file *file)
{
	char self[48];
	int err = -EEXIST;

	if (file->temporary)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(file->stream));
	for (int i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		char *name = random_name(file->dir);

		if (!name)
			return -ENOMEM;
		if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
			file->temporary = name;
			return 0;
		}
		err = -errno;
		free(name);
	}
	return err;
}

/* The new name survives a power cut only when the folder is on the disk too. */
static void sync_folder(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!fsync(fd); /* some file systems have no fsync for folders */
	close(fd);
}

/* All bytes are handed over and, for a file, on the disk. */
static int flush(struct atomic_file *file)
{
	errno = 0;
	if (fflush(file->stream) != 0)
		return errno ? -errno : -EIO;
	if (ferror(file->stream))
		return -EIO;
	if (file->dir && fsync(fileno(file->stream)) != 0)
		return -errno;
	return 0;
}

static int commit(struct atomic_file *file)
{
	int err = flush(file);

	if (!err && file->dir) {
		err = give_name(file);
		if (!err && rename(file->temporary, file->target) != 0)
			err = -errno;
		if (err)
			return err;
		free(file->temporary);
		file->temporary = NULL;
		sync_folder(file->dir);
	}
	return err;
}

int atomic_file__commit(struct atomic_file *file, struct fail *fail)
{
	int err = commit(file);

	if (err)
		return fail__set(fail, err, "cannot write %s: %s", file->path, strerror(-err));
	return 0;
}

void atomic_file__close(struct atomic_file *file)
{
	if (!file)
		return;
	if (file->temporary)
		unlink(file->temporary);
	if (file->stream)
		fclose(file->stream);
	free(file->path);
	free(file->dir);
	free(file->target);
	free(file->temporary);
	free(file);
}

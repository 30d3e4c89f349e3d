// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/atomic_folder.h"

#define OPEN_FOLDERS_MAX 16 /* descriptors that the removal may take */

struct atomic_folder {
	char *path;
	char *parent;
	char *temporary; /* NULL when there is none */
};

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *ftw)
{
	(void)stat;
	(void)kind;
	(void)ftw;
	return remove(path);
}

/* Without trailing slashes, which rename() and dirname() treat differently. */
static char *copy_path(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return strndup(path, len);
}

/* What is at the path may be replaced when it is nothing or an empty folder. */
static int check_place(const char *path, struct fail *fail)
{
	struct stat old;

	if (path[0] == '\0' || strcmp(path, "/") == 0)
		return fail__set(fail, -EINVAL, "'%s' is no name for a new folder", path);
	if (lstat(path, &old) != 0) {
		if (errno == ENOENT)
			return 0;
		return fail__set(fail, -errno, "cannot write %s: %s", path, strerror(errno));
	}
	if (S_ISDIR(old.st_mode) && rmdir(path) == 0)
		return mkdir(path, old.st_mode & 07777) == 0 ? 0 : -errno;
	return fail__set(fail, -EEXIST,
			 "%s is there already; this format is a folder, so remove it or name "
			 "another with --output",
			 path);
}

static int make_temporary(struct atomic_folder *folder)
{
	char *copy = strdup(folder->path);
	uint64_t number;

	if (!copy)
		return -ENOMEM;
	folder->parent = strdup(dirname(copy));
	free(copy);
	if (!folder->parent)
		return -ENOMEM;
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -EIO;
	if (asprintf(&folder->temporary, "%s/.dbprof-%016" PRIx64 ".tmp", folder->parent, number) <
	    0) {
		folder->temporary = NULL;
		return -ENOMEM;
	}
	if (mkdir(folder->temporary, 0777) == 0)
		return 0;
	free(folder->temporary);
	folder->temporary = NULL;
	return -errno;
}

int atomic_folder__open(const char *path, struct atomic_folder **ret_folder, struct fail *fail)
{
	struct atomic_folder *folder = calloc(1, sizeof(*folder));
	int err = -ENOMEM;

	if (!folder)
		return -ENOMEM;
	folder->path = copy_path(path);
	if (folder->path)
		err = check_place(folder->path, fail);
	if (!err)
		err = make_temporary(folder);
	if (err) {
		atomic_folder__close(folder);
		return fail__set(fail, err, "cannot write %s: %s", path, strerror(-err));
	}
	*ret_folder = folder;
	return 0;
}

const char *atomic_folder__path(const struct atomic_folder *folder)
{
	return folder->temporary;
}

/* The files are on the disk before the folder gets its name. */
static int sync_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = syncfs(fd) == 0 ? 0 : -errno;
	close(fd);
	return err;
}

int atomic_folder__commit(struct atomic_folder *folder, struct fail *fail)
{
	int err = sync_all(folder->temporary);

	if (!err && rename(folder->temporary, folder->path) != 0)
		err = -errno;
	if (err)
		return fail__set(fail, err, "cannot write %s: %s", folder->path, strerror(-err));
	free(folder->temporary);
	folder->temporary = NULL;
	return 0;
}

void atomic_folder__close(struct atomic_folder *folder)
{
	if (!folder)
		return;
	if (folder->temporary)
		nftw(folder->temporary, remove_one, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
	free(folder->temporary);
	free(folder->parent);
	free(folder->path);
	free(folder);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/secret_file.h"

#define MODE_OF_OTHERS	  0007
#define MODE_GROUP_WRITES 0020

static int check(int fd, const char *path, const char *what, bool secret, struct fail *fail)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return fail__set(fail, -errno, "cannot read %s in %s: %s", what, path,
				 strerror(errno));
	if (!S_ISREG(stat.st_mode))
		return fail__set(fail, -EINVAL, "cannot read %s: %s is not a regular file", what,
				 path);
	if (!secret)
		return 0;
	if (stat.st_uid != 0 && stat.st_uid != geteuid())
		return fail__set(
			fail, -EPERM,
			"%s in %s is not safe: the file belongs to another user; give it to "
			"root",
			what, path);
	if (stat.st_mode & (MODE_OF_OTHERS | MODE_GROUP_WRITES))
		return fail__set(fail, -EPERM,
				 "%s in %s is not safe: others may open the file (mode %04o); "
				 "chmod 600 helps",
				 what, path, stat.st_mode & 07777);
	return 0;
}

/* Returns the length, or a negative errno; -EFBIG when there is more than @max. */
static ssize_t read_all(int fd, char *text, size_t max)
{
	size_t len = 0;

	for (;;) {
		ssize_t got = read(fd, text + len, max + 1 - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return (ssize_t)len;
		len += (size_t)got;
		if (len > max)
			return -EFBIG;
	}
}

int secret_file__read(const char *path, const char *what, bool secret, size_t max, char **ret_text,
		      size_t *ret_len, struct fail *fail)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *text = NULL;
	ssize_t len;
	int err;

	if (fd < 0)
		return fail__set(fail, -errno, "cannot read %s in %s: %s", what, path,
				 strerror(errno));
	err = check(fd, path, what, secret, fail);
	if (!err) {
		text = malloc(max + 2);
		len = text ? read_all(fd, text, max) : -ENOMEM;
		if (len >= 0) {
			text[len] = '\0';
			*ret_text = text;
			*ret_len = (size_t)len;
		} else {
			err = (int)len;
			secret_file__free(text, max);
			fail__set(fail, err, "cannot read %s in %s: %s", what, path,
				  strerror(-err));
		}
	}
	close(fd);
	return err;
}

void secret_file__free(char *text, size_t len)
{
	if (text)
		explicit_bzero(text, len);
	free(text);
}

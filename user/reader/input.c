// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/input.h"
#include "reader/packed.h"

#define HEAD_MAX 512 /* bytes that tell what a file is */

struct input {
	char *path;
	const char *name;
	int fd;		    /* what is read: the file, or the copy */
	bool own_fd;	    /* not the standard input */
	struct stat opened; /* of a plain file */
	bool plain;	    /* a regular file of JSON, without a copy */

	/* What is read once. */
	struct packed *packed; /* NULL: as it comes from stream_fd */
	int stream_fd;
	char head[HEAD_MAX]; /* read to see what it is */
	size_t head_len;
	size_t head_used;
	uint64_t copied;
	bool ended;
};

const char *input__name(const struct input *input)
{
	return input->name;
}

static ssize_t read_fully(int fd, void *buffer, size_t len)
{
	size_t used = 0;

	while (used < len) {
		ssize_t got = read(fd, (char *)buffer + used, len - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

/* The next bytes of what is read once: the head again, then the rest. For struct packed, too. */
static ssize_t read_stream(void *context, void *buffer, size_t len)
{
	struct input *input = context;
	size_t left = input->head_len - input->head_used;

	if (left > 0) {
		if (len > left)
			len = left;
		memcpy(buffer, input->head + input->head_used, len);
		input->head_used += len;
		return (ssize_t)len;
	}
	return read_fully(input->stream_fd, buffer, len);
}

/* A file without a name, for the copy. Returns its descriptor or a negative errno. */
static int open_copy(struct fail *fail)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/tmp";
	fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(name, sizeof(name), "%s/dbprof-XXXXXX", folder) >= (int)sizeof(name))
		return fail__set(fail, -ENAMETOOLONG, "the name in TMPDIR is too long");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return fail__set(fail, -errno,
				 "no temporary file can be made in %s: %s; set TMPDIR to a folder "
				 "with room",
				 folder, strerror(errno));
	unlink(name);
	return fd;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Refuses at once what cannot be a profile, however much of it there is. */
static int check_head(const struct input *input, struct fail *fail)
{
	size_t at = 0;

	while (at < input->head_len && is_space(input->head[at]))
		at++;
	if (input->head_len == 0)
		return fail__set(fail, -ENODATA, "%s is empty; a profile was expected",
				 input->name);
	if (at < input->head_len && input->head[at] != '{')
		return fail__set(fail, -EINVAL,
				 "%s is no profile: neither JSON that begins with {, nor a zip or "
				 "gzip of it",
				 input->name);
	return 0;
}

/* Decides by the first bytes how the rest is to be read. */
static int look_at_head(struct input *input, bool regular, struct fail *fail)
{
	ssize_t got = read_fully(input->stream_fd, input->head, HEAD_MAX);
	enum packed_kind kind;
	int err;

	if (got < 0)
		return fail__set(fail, (int)got, "cannot read %s: %s", input->name,
				 strerror((int)-got));
	input->head_len = (size_t)got;
	kind = packed__kind(input->head, input->head_len);
	if (kind == PACKED_NOT) {
		err = check_head(input, fail);
		if (err || regular) {
			input->plain = !err;
			return err;
		}
	} else {
		err = packed__open(kind, read_stream, input, regular ? input->stream_fd : -1,
				   input->name, &input->packed, fail);
		if (err)
			return err;
	}
	input->fd = open_copy(fail);
	return input->fd < 0 ? input->fd : 0;
}

static int open_path(struct input *input, struct fail *fail)
{
	bool standard = strcmp(input->path, "-") == 0;

	input->name = standard ? "the standard input" : input->path;
	if (standard)
		input->stream_fd = STDIN_FILENO;
	else
		input->stream_fd = open(input->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (input->stream_fd < 0)
		return fail__set(fail, -errno, "cannot read %s: %s", input->name, strerror(errno));
	input->own_fd = !standard;
	if (fstat(input->stream_fd, &input->opened) != 0)
		return fail__set(fail, -errno, "cannot read %s: %s", input->name, strerror(errno));
	if (S_ISDIR(input->opened.st_mode))
		return fail__set(fail, -EISDIR, "%s is a folder; name the profile in it",
				 input->name);
	/* The standard input may stand anywhere in its file, so it is read as it comes. */
	return look_at_head(input, !standard && S_ISREG(input->opened.st_mode), fail);
}

int input__open(const char *path, struct input **ret_input, struct fail *fail)
{
	struct input *input = calloc(1, sizeof(*input));
	int err = -ENOMEM;

	if (!input)
		return -ENOMEM;
	input->fd = -1;
	input->stream_fd = -1;
	input->path = strdup(path);
	if (input->path)
		err = open_path(input, fail);
	if (err) {
		input__close(input);
		return err;
	}
	*ret_input = input;
	return 0;
}

static ssize_t read_at(struct input *input, int fd, void *buffer, size_t len, uint64_t offset,
		       struct fail *fail)
{
	ssize_t got;

	do {
		got = pread(fd, buffer, len, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail__set(fail, -errno, "cannot read %s: %s", input->name, strerror(errno));
	return got;
}

static int keep(struct input *input, const char *bytes, size_t len, struct fail *fail)
{
	while (len > 0) {
		ssize_t put = pwrite(input->fd, bytes, len, (off_t)input->copied);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return fail__set(fail, put < 0 ? -errno : -EIO,
					 "no room for the contents of %s in the temporary folder: "
					 "%s; set TMPDIR to a larger one",
					 input->name, strerror(put < 0 ? errno : EIO));
		bytes += put;
		len -= (size_t)put;
		input->copied += (uint64_t)put;
	}
	return 0;
}

static ssize_t read_once(struct input *input, void *buffer, size_t len, struct fail *fail)
{
	ssize_t got;
	int err;

	if (input->ended)
		return 0;
	if (input->packed) {
		got = packed__read(input->packed, buffer, len, fail);
		if (got < 0)
			return got;
	} else {
		got = read_stream(input, buffer, len);
		if (got < 0)
			return fail__set(fail, (int)got, "cannot read %s: %s", input->name,
					 strerror((int)-got));
	}
	input->ended = got == 0;
	err = keep(input, buffer, (size_t)got, fail);
	return err ? err : got;
}

ssize_t input__read(struct input *input, void *buffer, size_t len, uint64_t offset,
		    struct fail *fail)
{
	if (input->plain)
		return read_at(input, input->stream_fd, buffer, len, offset, fail);
	if (offset == input->copied)
		return read_once(input, buffer, len, fail);
	if (len > input->copied - offset)
		len = (size_t)(input->copied - offset);
	return read_at(input, input->fd, buffer, len, offset, fail);
}

int input__check(const struct input *input, struct fail *fail)
{
	const struct stat *before = &input->opened;
	struct stat now;

	if (!input->plain)
		return 0;
	if (fstat(input->stream_fd, &now) == 0 && now.st_size == before->st_size &&
	    now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
		return 0;
	return fail__set(fail, -ESTALE, "%s was changed while it was read; try again", input->name);
}

void input__close(struct input *input)
{
	if (!input)
		return;
	packed__close(input->packed);
	if (input->fd >= 0)
		close(input->fd);
	if (input->own_fd && input->stream_fd >= 0)
		close(input->stream_fd);
	free(input->path);
	free(input);
}

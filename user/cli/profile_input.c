// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/profile_input.h"
#include "export/snapshot_source.h"
#include "reader/reader.h"
#include "snapshot/snapshot_file.h"

/* What a pipe will give first; it stays in there. Returns its length, negative when it is none. */
static ssize_t peek_pipe(int fd, char *bytes, size_t size)
{
	ssize_t len = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	do
		len = tee(fd, ends[1], size, 0);
	while (len < 0 && errno == EINTR);
	if (len > 0)
		len = read(ends[0], bytes, (size_t)len);
	close(ends[0]);
	close(ends[1]);
	return len;
}

static bool is_snapshot(int fd)
{
	char bytes[SNAPSHOT_FILE_MAGIC];
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t len = at < 0 ? peek_pipe(fd, bytes, sizeof(bytes))
			     : pread(fd, bytes, sizeof(bytes), at);

	return len > 0 && snapshot_file__is_one(bytes, (size_t)len);
}

static int read_snapshot(int fd, struct profile_input *input, struct fail *fail)
{
	FILE *in = fdopen(dup(fd), "r");
	int err;

	if (!in)
		return -errno;
	err = snapshot_file__read(in, &input->snapshot, fail);
	fclose(in);
	return err ? err : snapshot_source__open(input->snapshot, &input->source);
}

static int name_failure(int err, const char *path, const struct fail *why, struct fail *fail)
{
	return fail__set(fail, err, "cannot read %s: %s", path,
			 why->text[0] ? why->text : strerror(-err));
}

/* The file stays open meanwhile: a pipe that nobody reads would end who writes to it. */
static int read_profile(int fd, const char *path, struct profile_input *input, struct fail *fail)
{
	struct fail why = { 0 };
	int err;

	if (!is_snapshot(fd))
		return profile_reader__open(path, &input->source, fail);
	err = read_snapshot(fd, input, &why);
	return err ? name_failure(err, path, &why, fail) : 0;
}

int profile_input__open_snapshot(int fd, const char *path, struct profile_input *ret_input,
				 struct fail *fail)
{
	struct profile_input input = { 0 };
	struct fail why = { 0 };
	int err = read_snapshot(fd, &input, &why);

	if (err) {
		profile_input__close(&input);
		return name_failure(err, path, &why, fail);
	}
	*ret_input = input;
	return 0;
}

int profile_input__open(const char *path, struct profile_input *ret_input, struct fail *fail)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct profile_input input = { 0 };
	int err;

	if (fd < 0)
		return fail__set(fail, -errno, "cannot read %s: %s", path, strerror(errno));
	err = read_profile(fd, path, &input, fail);
	if (!standard)
		close(fd);
	if (err)
		profile_input__close(&input);
	else
		*ret_input = input;
	return err;
}

void profile_input__close(struct profile_input *input)
{
	profile_source__close(input->source);
	snapshot__free(input->snapshot);
	*input = (struct profile_input){ 0 };
}

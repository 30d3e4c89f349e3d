// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/input.h"
#include "export/snapshot_source.h"
#include "snapshot/snapshot_file.h"

/* The stream of a file, which may be the standard input. NULL with errno set. */
static FILE *open_stream(const char *path)
{
	return strcmp(path, "-") ? fopen(path, "re") : stdin;
}

static void close_stream(FILE *in)
{
	if (in != stdin)
		fclose(in);
}

static int read_snapshot(FILE *in, struct input *input, struct fail *fail)
{
	int err = snapshot_file__read(in, &input->snapshot, fail);

	return err ? err : snapshot_source__open(input->snapshot, &input->source);
}

int input__open(const char *path, struct input *ret_input, struct fail *fail)
{
	struct input input = { 0 };
	struct fail why = { 0 };
	FILE *in = open_stream(path);
	int err;

	if (!in)
		return fail__set(fail, -errno, "%s cannot be opened: %s", path, strerror(errno));
	err = read_snapshot(in, &input, &why);
	close_stream(in);
	if (err) {
		input__close(&input);
		return fail__set(fail, err, "%s cannot be read: %s", path,
				 why.text[0] ? why.text : strerror(-err));
	}
	*ret_input = input;
	return 0;
}

void input__close(struct input *input)
{
	profile_source__close(input->source);
	snapshot__free(input->snapshot);
	*input = (struct input){ 0 };
}

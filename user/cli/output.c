// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/write_profile.h"
#include "export/snapshot_source.h"
#include "export/summary.h"
#include "util/atomic_file.h"

#define WIDTH_DEFAULT 80

static bool to_stdout(const struct options *options)
{
	return options->output && !strcmp(options->output, "-");
}

/* Length of @name up to its extension. */
static int stem(const char *name)
{
	const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash + 1 : name, '.');

	if (!dot || dot == name || dot[-1] == '/')
		dot = name + strlen(name);
	return (int)(dot - name);
}

int output__name(const struct options *options, pid_t pid, unsigned int window,
		 char name[OUTPUT_NAME_MAX])
{
	const char *given = options->output;
	char process[32] = "", number[32] = "";
	int len;

	if (window)
		snprintf(number, sizeof(number), "-%04u", window);
	if (!given) {
		len = snprintf(name, OUTPUT_NAME_MAX, "dbprof-%d%s.%s", pid, number,
			       options->exporter->extension);
	} else {
		if (options->pid_count > 1)
			snprintf(process, sizeof(process), "-%d", pid);
		len = snprintf(name, OUTPUT_NAME_MAX, "%.*s%s%s%s", stem(given), given, process,
			       number, given + stem(given));
	}
	return len < 0 || len >= OUTPUT_NAME_MAX ? -ENAMETOOLONG : 0;
}

int output__check(const struct options *options, pid_t pid, struct fail *fail)
{
	char name[OUTPUT_NAME_MAX];
	struct atomic_file *file = NULL;
	int err = output__name(options, pid, options->interval_ns ? 1 : 0, name);

	if (err)
		return fail__set(fail, err, "the output's file name is too long");
	if (to_stdout(options))
		return 0;
	err = atomic_file__open(name, &file, fail);
	atomic_file__close(file);
	return err;
}

int output__profile(const struct options *options, const struct snapshot *snapshot,
		    unsigned int window, struct fail *fail)
{
	char name[OUTPUT_NAME_MAX];
	struct profile_source *source = NULL;
	int err = snapshot_source__open(snapshot, &source);

	if (!err)
		err = output__name(options, snapshot->pid, window, name);
	if (!err)
		err = write_profile(source, options->exporter, name, fail);
	if (err)
		fail__set(fail, err, "the profile of process %d cannot be written: %s",
			  snapshot->pid, strerror(-err));
	profile_source__close(source);
	return err;
}

int output__width(FILE *stream)
{
	struct winsize size;

	if (!ioctl(fileno(stream), TIOCGWINSZ, &size) && size.ws_col > 0)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

bool output__colours(FILE *stream)
{
	return isatty(fileno(stream)) && !getenv("NO_COLOR");
}

int output__print_summary(FILE *stream, const struct snapshot *snapshot)
{
	return summary__write(stream, snapshot, output__colours(stream), output__width(stream));
}

void output__summary(const struct options *options, const struct snapshot *snapshot)
{
	FILE *stream = to_stdout(options) ? stderr : stdout;
	char name[OUTPUT_NAME_MAX];

	if (options->quiet)
		return;
	output__print_summary(stream, snapshot);
	if (!to_stdout(options) && !output__name(options, snapshot->pid, 0, name))
		fprintf(stream, "Profile written to %s\n", name);
	fflush(stream);
}

void output__window(const struct options *options, const struct snapshot *snapshot,
		    unsigned int window)
{
	if (options->quiet)
		return;
	summary__window_line(stdout, snapshot, window, options->pid_count > 1);
	fflush(stdout);
}

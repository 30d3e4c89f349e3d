// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.h"
#include "export/snapshot_source.h"
#include "export/summary.h"
#include "cli/write_profile.h"
#include "util/atomic_file.h"
#include "util/atomic_folder.h"

#define WIDTH_DEFAULT 80

static bool to_stdout(const struct options *options)
{
	return options->output && !strcmp(options->output, "-");
}

/* Where the extension begins: the format's own, which may have a dot inside, or the last one. */
static const char *extension_of(const char *given, const char *own)
{
	const char *slash = strrchr(given, '/'), *name = slash ? slash + 1 : given;
	size_t len = strlen(name), own_len = strlen(own);
	const char *dot = strrchr(name, '.');

	if (len > own_len + 1 && name[len - own_len - 1] == '.' &&
	    strcmp(name + len - own_len, own) == 0)
		dot = name + len - own_len - 1;
	return dot && dot != name ? dot : name + len;
}

int output__name(const struct options *options, pid_t pid, char name[OUTPUT_NAME_MAX])
{
	const char *given = options->output;
	const char *dot;
	int len;

	if (!given) {
		len = snprintf(name, OUTPUT_NAME_MAX, "dbprof-%d.%s", pid,
			       options->exporter->extension);
	} else if (options->pid_count < 2) {
		len = snprintf(name, OUTPUT_NAME_MAX, "%s", given);
	} else {
		dot = extension_of(given, options->exporter->extension);
		len = snprintf(name, OUTPUT_NAME_MAX, "%.*s-%d%s", (int)(dot - given), given, pid,
			       dot);
	}
	return len < 0 || len >= OUTPUT_NAME_MAX ? -ENAMETOOLONG : 0;
}

int output__check(const struct options *options, pid_t pid, struct fail *fail)
{
	const struct exporter *exporter = options->exporter;
	char name[OUTPUT_NAME_MAX];
	struct atomic_folder *folder = NULL;
	struct atomic_file *file = NULL;
	int err = output__name(options, pid, name);

	if (err)
		return fail__set(fail, err, "the output's file name is too long");
	if (options->exporter->check)
		err = options->exporter->check(fail);
	if (err)
		return err;
	if (to_stdout(options) && exporter->write_folder)
		return write_profile__no_stream(exporter, fail);
	if (to_stdout(options))
		return 0;
	if (exporter->write_folder) {
		err = atomic_folder__open(name, &folder, fail);
		atomic_folder__close(folder);
		return err;
	}
	err = atomic_file__open(name, &file, fail);
	atomic_file__close(file);
	return err;
}

int output__profile(const struct options *options, const struct snapshot *snapshot,
		    struct engine_state *state, struct fail *fail)
{
	char name[OUTPUT_NAME_MAX];
	struct profile_source *source = NULL;
	int err = snapshot_source__open(snapshot, &source);

	if (!err)
		err = engine_state__join(state, &source);
	if (!err)
		err = output__name(options, snapshot->pid, name);
	if (!err)
		err = write_profile(source, options->exporter, name, fail);
	if (err)
		fail__set(fail, err, "the profile of process %d cannot be written: %s",
			  snapshot->pid, strerror(-err));
	profile_source__close(source);
	return err;
}

static int terminal_width(FILE *stream)
{
	struct winsize size;

	if (!ioctl(fileno(stream), TIOCGWINSZ, &size) && size.ws_col > 0)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

void output__summary(const struct options *options, const struct snapshot *snapshot,
		     const struct engine_state *state)
{
	FILE *stream = to_stdout(options) ? stderr : stdout;
	bool colours = isatty(fileno(stream)) && !getenv("NO_COLOR");
	char name[OUTPUT_NAME_MAX];

	if (options->quiet)
		return;
	summary__write(stream, snapshot, colours, terminal_width(stream));
	if (engine_state__error(state))
		fprintf(stream, "No engine metrics: %s\n", engine_state__error(state));
	else if (state)
		fprintf(stream, "Engine metrics from %s\n", engine_state__from(state));
	if (!to_stdout(options) && !output__name(options, snapshot->pid, name))
		fprintf(stream, "Profile written to %s\n", name);
	fflush(stream);
}

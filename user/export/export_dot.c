// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The engine's graphviz profiles, a drawing and a text for each worker: GraphProfile::dump() and
 * write_zip() of src/profile.rs. Memory: the graph and one worker.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "export/dot_text.h"
#include "export/export.h"
#include "export/export_zip.h"
#include "util/zip_writer.h"

#define NANOS_PER_MICRO	  1000u
#define MICROS_PER_SECOND 1000000u

/* GraphProfile::MAKEFILE: part of the format. */
static const char makefile[] =
	"# Run `make` to easily convert the `.dot` files into PDF files for viewing.\n"
	"# Run as, e.g. `make FORMATS='pdf svg png'` to convert into additional\n"
	"# formats supported by `dot`.\n"
	"\n"
	"DOTS = $(wildcard *.dot)\n"
	"FORMATS = pdf\n"
	"\n"
	"all: $(FORMATS)\n"
	"\n"
	"define format_template\n"
	"$(1): $(DOTS:.dot=.$(1))\n"
	"%.$(1): %.dot\n"
	"\tdot -T$(1) $$< -o$$@\n"
	"clean:\n"
	"\trm -f $(DOTS:.dot=.$$(1))\n"
	"endef\n"
	"\n"
	"$(foreach format,$(FORMATS),$(eval $(call format_template,$(format))))\n"
	"\n"
	".PHONY: all clean $(FORMATS)\n";

/* Where the files go: a folder, an archive, or one stream with all drawings in it. */
struct dot_export {
	struct dot_text text;
	size_t first_worker;
	const char *folder;
	struct zip_writer *zip;
	FILE *stream;
	struct fail *fail;
};

typedef void (*write_fn)(const struct dot_text *text, FILE *out);

static void write_dot(const struct dot_text *text, FILE *out)
{
	dot_text__write_dot(text, DOT_ENGINE, out);
}

static void write_makefile(const struct dot_text *text, FILE *out)
{
	(void)text;
	fputs(makefile, out);
}

static int write_file(const struct dot_export *to, const char *name, write_fn write)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", to->folder, name);
	bool failed;
	FILE *out;
	int err;

	if (len < 0 || (size_t)len >= sizeof(path))
		return fail__set(to->fail, -ENAMETOOLONG, "the output's folder name is too long");
	out = fopen(path, "wxe");
	if (!out) {
		err = -errno;
		return fail__set(to->fail, err, "cannot write %s: %s", path, strerror(-err));
	}
	errno = 0;
	write(&to->text, out);
	failed = fflush(out) != 0 || ferror(out);
	err = errno ? -errno : -EIO;
	if (fclose(out) != 0 && !failed) {
		failed = true;
		err = -errno;
	}
	return failed ? fail__set(to->fail, err, "cannot write %s: %s", path, strerror(-err)) : 0;
}

static int write_entry(const struct dot_export *to, const char *name, write_fn write)
{
	FILE *out = zip_writer__entry(to->zip, name);

	if (!out)
		return zip_writer__finish(to->zip, to->fail);
	write(&to->text, out);
	return 0;
}

static int put(const struct dot_export *to, const char *name, write_fn write)
{
	return to->zip ? write_entry(to, name, write) : write_file(to, name, write);
}

static int worker_begin(void *context, size_t worker)
{
	struct dot_export *to = context;

	(void)worker;
	dot_text__begin_worker(&to->text);
	return 0;
}

static int node(void *context, size_t worker, const struct profile_node *node)
{
	struct dot_export *to = context;

	(void)worker;
	return dot_text__add(&to->text, node);
}

static int worker_end(void *context, size_t worker)
{
	const struct dot_export *to = context;
	char name[40];
	int err;

	if (to->stream) {
		dot_text__write_dot(&to->text, DOT_VALID, to->stream);
		return ferror(to->stream) ? -EIO : 0;
	}
	snprintf(name, sizeof(name), "%zu.dot", to->first_worker + worker);
	err = put(to, name, write_dot);
	if (err)
		return err;
	snprintf(name, sizeof(name), "%zu.txt", to->first_worker + worker);
	return put(to, name, dot_text__write_plain);
}

static int write_all(struct profile_source *source, struct dot_export *to)
{
	static const struct profile_visitor visitor = {
		.worker_begin = worker_begin,
		.node = node,
		.worker_end = worker_end,
	};
	int err = dot_text__make(source, &to->text, to->fail);

	if (err)
		return err;
	to->first_worker = source->first_worker;
	err = profile_source__visit(source, &visitor, to, to->fail);
	if (!err && !to->stream)
		err = put(to, "Makefile", write_makefile);
	dot_text__clear(&to->text);
	return err;
}

/* What ends a telling when it has told enough. */
#define TOLD (-ECANCELED)

static int look_for_elapsed(void *context, size_t worker, const struct profile_node *node)
{
	uint64_t *micros = context;

	(void)worker;
	if (node->id.depth > 0)
		return 0;
	for (size_t i = 0; i < node->count; i++) {
		const struct profile_reading *reading = &node->readings[i];
		const struct value *value = &reading->value;

		if (strcmp(reading->metric, "circuit_runtime_elapsed_seconds") != 0 ||
		    reading->label_count > 0 || value->kind != VALUE_DURATION ||
		    value->duration.secs > UINT64_MAX / MICROS_PER_SECOND - 1)
			continue;
		*micros = value->duration.secs * MICROS_PER_SECOND +
			  value->duration.nanos / NANOS_PER_MICRO;
	}
	return TOLD;
}

static int first_worker_end(void *context, size_t worker)
{
	(void)context;
	(void)worker;
	return TOLD;
}

/*
 * The length of what is profiled, which names the folder. A file of the engine has it as the root's
 * circuit_runtime_elapsed_seconds, when the CPU profiler was on; without, the name is 0.
 */
static int elapsed_micros(struct profile_source *source, uint64_t *ret_micros, struct fail *fail)
{
	static const struct profile_visitor visitor = {
		.node = look_for_elapsed,
		.worker_end = first_worker_end,
	};
	uint64_t micros = source->elapsed_ns / NANOS_PER_MICRO;
	int err = 0;

	if (source->elapsed_ns == 0) {
		err = profile_source__visit(source, &visitor, &micros, fail);
		if (err == TOLD) {
			fail__clear(fail);
			err = 0;
		}
	}
	*ret_micros = micros;
	return err;
}

int export_dot_dir(struct profile_source *source, const char *path, struct fail *fail)
{
	char folder[PATH_MAX];
	struct dot_export to = { .folder = folder, .fail = fail };
	uint64_t micros;
	int err = elapsed_micros(source, &micros, fail);
	int len;

	if (err)
		return err;
	len = snprintf(folder, sizeof(folder), "%s/%" PRIu64, path, micros);
	if (len < 0 || (size_t)len >= sizeof(folder))
		return fail__set(fail, -ENAMETOOLONG, "the output's folder name is too long");
	if (mkdir(folder, 0777) != 0) {
		err = -errno;
		return fail__set(fail, err, "cannot make the folder %s: %s", folder,
				 strerror(-err));
	}
	return write_all(source, &to);
}

int export_dot_zip(struct profile_source *source, FILE *out, struct fail *fail)
{
	struct dot_export to = { .fail = fail };
	int err = zip_writer__open(out, export_zip_time(source), &to.zip, fail);

	if (!err)
		err = write_all(source, &to);
	if (!err)
		err = zip_writer__finish(to.zip, fail);
	zip_writer__close(to.zip);
	return err;
}

int export_dot(struct profile_source *source, FILE *out, struct fail *fail)
{
	struct dot_export to = { .stream = out, .fail = fail };

	return write_all(source, &to);
}

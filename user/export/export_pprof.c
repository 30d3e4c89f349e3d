// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A profile for pprof: stacks with the sample types wall, cpu and off-cpu, in nanoseconds, and the
 * labels worker, node and reason.
 *
 * It is written in pieces (pprof.proto), so that memory holds the frames and their strings, but no
 * sample. Each frame is a location and a function, both with the number of the frame plus one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <pprof.pb-c.h>

#include "export/export.h"
#include "export/pprof_strings.h"
#include "export/stacks.h"
#include "util/gzip_writer.h"
#include "util/text.h"
#include "util/utf8.h"

#define MAPPING_ID 1

struct pprof {
	struct gzip_writer *out;
	struct pprof_strings strings;
	uint8_t *packed; /* room for the largest piece so far */
	size_t packed_size;
	uint64_t *locations; /* room for the deepest stack so far */
	size_t location_room;
	int err; /* the first one; it makes the rest a no-op */
};

/* Writes a piece of the profile. */
static void put(struct pprof *pprof, const Dbprof__Pprof__Profile *piece)
{
	size_t size = dbprof__pprof__profile__get_packed_size(piece);
	uint8_t *packed = pprof->packed;

	if (pprof->err)
		return;
	if (size > pprof->packed_size) {
		packed = realloc(packed, size);
		if (!packed) {
			pprof->err = -ENOMEM;
			return;
		}
		pprof->packed = packed;
		pprof->packed_size = size;
	}
	dbprof__pprof__profile__pack(piece, packed);
	pprof->err = gzip_writer__write(pprof->out, packed, size);
}

/* The place of a string, which is written when it is new; bytes that are not UTF-8 as U+FFFD. */
static int64_t place_of(struct pprof *pprof, const char *text, size_t len)
{
	Dbprof__Pprof__Profile piece = DBPROF__PPROF__PROFILE__INIT;
	char *clean = utf8__clean(text, len);
	const struct pprof_string *string = NULL;
	bool new = false;

	if (clean)
		string = pprof_strings__add(&pprof->strings, clean, strlen(clean), &new);
	free(clean);
	if (!string) {
		pprof->err = pprof->err ? pprof->err : -ENOMEM;
		return 0;
	}
	if (new) {
		char *one[] = { string->text };

		piece.string_table = one;
		piece.n_string_table = 1;
		put(pprof, &piece);
	}
	return string->place;
}

static int64_t string(struct pprof *pprof, const char *text)
{
	return place_of(pprof, text, strlen(text));
}

static int put_frame(void *context, const struct stack_frame *frame)
{
	struct pprof *pprof = context;
	uint64_t id = frame->number + 1;
	Dbprof__Pprof__Profile piece = DBPROF__PPROF__PROFILE__INIT;
	Dbprof__Pprof__Function function = DBPROF__PPROF__FUNCTION__INIT, *functions = &function;
	Dbprof__Pprof__Location location = DBPROF__PPROF__LOCATION__INIT, *locations = &location;
	Dbprof__Pprof__Line line = DBPROF__PPROF__LINE__INIT, *lines = &line;

	function.id = id;
	function.name = string(pprof, frame->name);
	function.system_name = frame->node[0] ? string(pprof, frame->node) : function.name;
	if (frame->file) {
		function.filename = place_of(pprof, frame->file, frame->file_len);
		function.start_line = frame->line;
	}
	line.function_id = id;
	line.line = frame->line;
	location.id = id;
	location.mapping_id = MAPPING_ID;
	location.line = &lines;
	location.n_line = 1;
	piece.function = &functions;
	piece.n_function = 1;
	piece.location = &locations;
	piece.n_location = 1;
	put(pprof, &piece);
	return pprof->err;
}

static void label(struct pprof *pprof, const char *key, const char *value,
		  Dbprof__Pprof__Label *ret_label)
{
	*ret_label = (Dbprof__Pprof__Label)DBPROF__PPROF__LABEL__INIT;
	ret_label->key = string(pprof, key);
	ret_label->str = string(pprof, value);
}

/* The stack, the innermost frame first. */
static bool set_locations(struct pprof *pprof, const struct stack_sample *from)
{
	if (from->depth > pprof->location_room) {
		uint64_t *grown = reallocarray(pprof->locations, from->depth, sizeof(*grown));

		if (!grown)
			return false;
		pprof->locations = grown;
		pprof->location_room = from->depth;
	}
	for (size_t i = 0; i < from->depth; i++)
		pprof->locations[i] = from->frames[from->depth - 1 - i]->number + 1;
	return true;
}

static int put_sample(void *context, const struct stack_sample *from)
{
	struct pprof *pprof = context;
	Dbprof__Pprof__Profile piece = DBPROF__PPROF__PROFILE__INIT;
	Dbprof__Pprof__Sample sample = DBPROF__PPROF__SAMPLE__INIT, *samples = &sample;
	int64_t values[] = { from->wall_ns, from->cpu_ns, from->wall_ns - from->cpu_ns };
	Dbprof__Pprof__Label labels[3], *label_list[] = { &labels[0], &labels[1], &labels[2] };
	char worker[32]; /* "worker 3": pprof takes a plain number for a range of numbers */

	if (!set_locations(pprof, from))
		return -ENOMEM;
	snprintf(worker, sizeof(worker), "worker %zu", from->worker);
	label(pprof, "worker", worker, &labels[0]);
	label(pprof, "reason", from->reason, &labels[1]);
	label(pprof, "node", from->node, &labels[2]);
	sample.location_id = pprof->locations;
	sample.n_location_id = from->depth;
	sample.value = values;
	sample.n_value = 3;
	sample.label = label_list;
	sample.n_label = from->node[0] ? 3 : 2;
	piece.sample = &samples;
	piece.n_sample = 1;
	put(pprof, &piece);
	return pprof->err;
}

/* What the values mean. */
static void put_types(struct pprof *pprof)
{
	static const char *const names[] = { "wall", "cpu", "off-cpu" };
	Dbprof__Pprof__Profile piece = DBPROF__PPROF__PROFILE__INIT;
	Dbprof__Pprof__ValueType types[3], period, *type_list[3];

	for (size_t i = 0; i < 3; i++) {
		types[i] = (Dbprof__Pprof__ValueType)DBPROF__PPROF__VALUE_TYPE__INIT;
		types[i].type = string(pprof, names[i]);
		types[i].unit = string(pprof, "nanoseconds");
		type_list[i] = &types[i];
	}
	period = types[0];
	piece.sample_type = type_list;
	piece.n_sample_type = 3;
	piece.default_sample_type = types[0].type;
	piece.period_type = &period;
	piece.period = 1;
	put(pprof, &piece);
}

static void put_comment(struct pprof *pprof, const char *text)
{
	Dbprof__Pprof__Profile piece = DBPROF__PPROF__PROFILE__INIT;
	int64_t comment = string(pprof, text);

	piece.comment = &comment;
	piece.n_comment = 1;
	put(pprof, &piece);
}

/* Where the profile is from. The mapping says that there are no symbols to look up. */
/* "host db1", unless it is not known. */
static void put_fact(struct pprof *pprof, const char *name, const char *fact)
{
	char text[128];

	if (!fact || !fact[0])
		return;
	snprintf(text, sizeof(text), "%s %s", name, fact);
	put_comment(pprof, text);
}

static void put_origin(struct pprof *pprof, const struct profile_source *source)
{
	Dbprof__Pprof__Profile piece = DBPROF__PPROF__PROFILE__INIT;
	Dbprof__Pprof__Mapping mapping = DBPROF__PPROF__MAPPING__INIT, *mappings = &mapping;
	char text[128];

	if (source->pid > 0)
		snprintf(text, sizeof(text), "DBSP pipeline, process %d", source->pid);
	else
		snprintf(text, sizeof(text), "DBSP pipeline");
	mapping.id = MAPPING_ID;
	mapping.filename = string(pprof, text);
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	piece.mapping = &mappings;
	piece.n_mapping = 1;
	piece.time_nanos = source->start_unix_ns;
	piece.duration_nanos = source->elapsed_ns < INT64_MAX ? (int64_t)source->elapsed_ns
							      : INT64_MAX;
	put(pprof, &piece);
	put_comment(pprof, "written by dbprof-bpf " DBPROF_VERSION);
	put_fact(pprof, "dbsp", source->dbsp_version);
	put_fact(pprof, "host", source->host);
	put_fact(pprof, "mode", source->mode);
}

/* The one case in which the sum is not the window (time_books.h). */
static void put_notes(struct pprof *pprof, const struct stack_notes *notes)
{
	char excess[TEXT_NUMBER_MAX], text[200];

	if (notes->excess_workers == 0)
		return;
	text__duration(notes->excess_ns, excess);
	snprintf(text, sizeof(text),
		 "operators of %zu workers took %s more than the steps in the window: evaluations "
		 "that began before it count whole",
		 notes->excess_workers, excess);
	put_comment(pprof, text);
}

int export_pprof(struct profile_source *source, FILE *out, struct fail *fail)
{
	static const struct stack_sink sink = { .frame = put_frame, .sample = put_sample };
	struct pprof pprof = { 0 };
	struct stack_notes notes;
	int err = gzip_writer__open(out, &pprof.out);

	if (err)
		return err;
	string(&pprof, ""); /* the first of the table, by the format */
	put_types(&pprof);
	put_origin(&pprof, source);
	err = pprof.err;
	if (!err)
		err = stacks__tell(source, &sink, &pprof, &notes, fail);
	if (!err) {
		put_notes(&pprof, &notes);
		err = pprof.err;
	}
	if (!err)
		err = gzip_writer__finish(pprof.out);
	gzip_writer__close(pprof.out);
	pprof_strings__clear(&pprof.strings);
	free(pprof.locations);
	free(pprof.packed);
	return err;
}

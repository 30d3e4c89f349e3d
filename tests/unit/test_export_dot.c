// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The graphviz profiles and the archives, of a window.
 */
#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "check.h"
#include "fixture.h"

typedef int (*export_fn)(struct profile_source *source, FILE *out, struct fail *fail);

/* What @export writes of @snapshot; free it. */
static char *export(const struct snapshot *snapshot, size_t first_worker, export_fn write,
		    size_t *ret_size)
{
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_size);

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	source->first_worker = first_worker;
	CHECK(write(source, out, &fail) == 0);
	CHECK_TEXT(fail.text, "");
	fclose(out);
	profile_source__close(source);
	return bytes;
}

static void check_part(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		fprintf(stderr, "missing: %s\nin: %s\n", part, text);
		check_failures++;
	}
}

/* nn1's two halves, of an operator that reads itself, are one node with the input's readings. */
static void test_drawing(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	struct graph *graph = snapshot->workers[0].graph;
	size_t size;
	char *text;

	graph->edges[1] = (struct graph_edge){ 3, 4, true };
	graph->edges[2] = (struct graph_edge){ 3, 4, false };
	text = export(snapshot, 0, export_dot, &size);
	check_part(text, "digraph {\nnode [shape=box]\nsubgraph cluster_n {\nlabel=\"root\\l"
			 "blocked_seconds[cause=block_io]: ");
	check_part(text, "\"\nenter_n[style=invis]\nexit_n[style=invis]\n");
	check_part(text, "nn1_n0[label=\"Z^-1\\lengine_timing_seconds: 1ms\\l"
			 "invocations_count: 1,234\\l");
	check_part(text, "runtime_percent: 50.00%\\lruntime_samples_count: 200\\l");
	check_part(text, "fillcolor=\"#ff1f1f\" style=filled]\n}\n}\n");
	check_part(text, "}\n}\nexit_nn1 -> nn2\n}\ndigraph {\n");
	CHECK(!strstr(text, "(output)") && !strstr(text, "nn1_n1"));
	free(text);
	snapshot__free(snapshot);
}

/* A label ends where it ends, whatever is in it. */
static void test_quoting(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, true);
	struct graph_node *node = &snapshot->workers[0].graph->nodes[5];
	size_t size;
	char *text;

	free(node->name);
	node->name = strdup("say \"hi\\\" \\\\\" \\");
	snapshot->workers[0].operator_count = 0;
	text = export(snapshot, 0, export_dot, &size);
	check_part(text, "[label=\"say \\\"hi\\\" \\\\\\\" \\\\\" fillcolor");
	free(text);
	snapshot__free(snapshot);
}

/* The names of the entries, each with a blank after it. */
static void check_names(const char *bytes, size_t size, const char *wanted)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	char names[400] = "";

	archive_read_support_format_zip(archive);
	CHECK(archive_read_open_memory(archive, bytes, size) == ARCHIVE_OK);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		strcat(names, archive_entry_pathname(entry));
		strcat(names, " ");
	}
	CHECK_TEXT(names, wanted);
	archive_read_free(archive);
}

static void test_archives(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	size_t size;
	char *bytes = export(snapshot, 4, export_dot_zip, &size);

	check_names(bytes, size, "4.dot 4.txt 5.dot 5.txt Makefile ");
	free(bytes);
	bytes = export(snapshot, 0, export_json_zip, &size);
	check_names(bytes, size, "profile.json ");
	free(bytes);
	snapshot->window_start_unix_ns = 1779712496789000000;
	bytes = export(snapshot, 0, export_bundle, &size);
	check_names(bytes, size, "2026-05-25T12-34-56.789Z/circuit_profile.json ");
	free(bytes);
	snapshot__free(snapshot);
}

static void test_folder(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char top[] = "/tmp/test_export_dot.XXXXXX";
	char path[100];
	static const char *const names[] = { "0.dot", "0.txt", "Makefile", "" };

	CHECK(mkdtemp(top) != NULL);
	CHECK(snapshot_source__open(snapshot, &source) == 0);
	CHECK(export_dot_dir(source, top, &fail) == 0);
	/* Nothing is written over. */
	CHECK(export_dot_dir(source, top, &fail) == -EEXIST);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/10000000/%s", top, names[i]);
		CHECK(remove(path) == 0);
	}
	CHECK(rmdir(top) == 0);
	profile_source__close(source);
	snapshot__free(snapshot);
}

static void test_failures(void)
{
	static const export_fn all[] = { export_dot, export_dot_zip, export_json_zip,
					 export_bundle };
	struct snapshot *snapshot = fixture_snapshot(300, false);
	struct snapshot *empty = fixture_snapshot(0, false);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	FILE *full = fopen("/dev/full", "w");

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK(all[i](source, full, &fail) < 0);
	fclose(full);
	profile_source__close(source);
	fail__clear(&fail);
	CHECK(snapshot_source__open(empty, &source) == 0);
	CHECK(export_dot(source, stdout, &fail) == -ENODATA);
	CHECK_TEXT(fail.text, "the profile has no circuit graph, so it cannot be drawn");
	profile_source__close(source);
	snapshot__free(snapshot);
	snapshot__free(empty);
}

int main(void)
{
	test_drawing();
	test_quoting();
	test_archives();
	test_folder();
	test_failures();
	return CHECK_RESULT();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Snapshot files: what is read is what was written, and whatever else is read is refused.
 */
#include <errno.h>
#include <stdlib.h>

#include <zlib.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "snapshot/snapshot_file.h"
#include "check_summary.h"
#include "fixture.h"

#define CASES	   20000
#define VERSION_AT 8 /* behind the magic */

struct file {
	char *bytes;
	size_t len;
};

static struct file write_file(const struct snapshot *snapshot)
{
	struct file file = { 0 };
	FILE *out = open_memstream(&file.bytes, &file.len);

	CHECK(snapshot_file__write(snapshot, out) == 0);
	fclose(out);
	return file;
}

static int read_file(const struct file *file, struct snapshot **ret_snapshot, struct fail *fail)
{
	/* An empty one cannot be opened by fmemopen(). */
	FILE *in = file->len ? fmemopen(file->bytes, file->len, "r") : fopen("/dev/null", "r");
	int err = snapshot_file__read(in, ret_snapshot, fail);

	fclose(in);
	return err;
}

/* The checksum that fits, so that what comes behind it is put to the test. */
static void sum_up(struct file *file)
{
	uint32_t crc = (uint32_t)crc32_z(0, (uint8_t *)file->bytes, file->len - 4);

	for (size_t i = 0; i < 4; i++)
		file->bytes[file->len - 4 + i] = (char)(crc >> (8 * i));
}

static char *export(const struct snapshot *snapshot)
{
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	CHECK(source && export_json(source, out, &fail) == 0);
	fclose(out);
	profile_source__close(source);
	return text;
}

/* The same bytes when written again, and the same for people and for viewers. */
static void check_round_trip(const struct snapshot *snapshot)
{
	struct file first = write_file(snapshot), second;
	struct snapshot *read = NULL;
	struct fail fail = { 0 };
	char *text, *wanted;

	if (!CHECK(read_file(&first, &read, &fail) == 0)) {
		fprintf(stderr, "  %s\n", fail.text);
		free(first.bytes);
		return;
	}
	second = write_file(read);
	CHECK(first.len == second.len && !memcmp(first.bytes, second.bytes, first.len));
	text = export(read);
	wanted = export(snapshot);
	CHECK_TEXT(text, wanted);
	free(text);
	free(wanted);
	text = render(read, true, 100);
	wanted = render(snapshot, true, 100);
	CHECK_TEXT(text, wanted);
	free(text);
	free(wanted);
	free(first.bytes);
	free(second.bytes);
	snapshot__free(read);
}

/* Numbers that are all different, so that no two of them change places unseen. */
static void fill(struct snapshot_worker *worker, uint64_t *number)
{
	for (size_t i = 0; i < worker->operator_count; i++) {
		struct snapshot_operator *op = &worker->operators[i];

		op->invocations = ++*number;
		op->runtime_ns = ++*number << 20;
		op->cpu_ns = ++*number;
		op->interval_ns = ++*number;
		op->samples = ++*number;
		op->timing_samples = ++*number;
		op->engine_timing_ns = ++*number;
		for (size_t word = 0; word < sizeof(op->share) / sizeof(__u64); word++)
			((__u64 *)&op->share)[word] = ++*number;
		op->unobserved_ns = ++*number;
	}
	for (size_t word = 0; word < sizeof(worker->cpu) / sizeof(uint64_t); word++)
		((uint64_t *)&worker->cpu)[word] = ++*number;
	for (size_t i = 0; i < worker->circuit_count; i++) {
		struct snapshot_circuit *circuit = &worker->circuits[i];

		for (size_t reason = 0; reason < PARK_REASONS; reason++)
			circuit->wait_ns[reason] = ++*number;
		circuit->step_open = circuit->step_age_exact = true;
		circuit->step_age_ns = ++*number;
		circuit->open_reason = (int)i;
		circuit->open_reason_ns = ++*number;
	}
}

static struct snapshot *rich_snapshot(void)
{
	struct snapshot *snapshot = fixture_snapshot(3, false);
	uint64_t number = 1000;

	for (size_t i = 0; i < 3; i++)
		fill(&snapshot->workers[i], &number);
	snapshot->workers[1].late = true;
	/* Another graph, and none. */
	free(snapshot->workers[1].graph->nodes[5].name);
	snapshot->workers[1].graph->nodes[5].name = strdup("Minus");
	graph__free(snapshot->workers[2].graph);
	snapshot->workers[2].graph = NULL;
	snapshot->rustc_version = strdup("1.95.0");
	snapshot->layout = strdup("built in");
	snapshot->cost.dropped = "park probes";
	snapshot->exited_count = 3;
	snapshot->exited.observed_ns = ++number;
	snapshot->losses = (struct snapshot_losses){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, true };
	snapshot->window_start_unix_ns = -5;
	return snapshot;
}

static void test_round_trip(void)
{
	struct snapshot *snapshot = rich_snapshot();
	struct snapshot empty = { .window_start_unix_ns = INT64_MIN };

	check_round_trip(snapshot);
	snapshot__free(snapshot);
	check_round_trip(&empty);
	snapshot = fixture_snapshot(2, true);
	check_round_trip(snapshot);
	fixture_largest(&snapshot->workers[0]);
	check_round_trip(snapshot);
	snapshot__free(snapshot);
}

/* Fields that neither the summary nor the export shows. */
static void test_fields(void)
{
	struct snapshot *snapshot = rich_snapshot(), *read = NULL;
	struct file file = write_file(snapshot);
	struct fail fail = { 0 };

	if (CHECK(read_file(&file, &read, &fail) == 0)) {
		const struct snapshot_worker *is = &read->workers[1];
		const struct snapshot_worker *was = &snapshot->workers[1];

		CHECK(is->circuit_count == was->circuit_count);
		CHECK(!memcmp(is->circuits, was->circuits,
			      was->circuit_count * sizeof(*was->circuits)));
		CHECK(is->operator_count == was->operator_count);
		for (size_t i = 0; i < was->operator_count; i++) {
			CHECK(is->operators[i].timing_samples == was->operators[i].timing_samples);
			CHECK(is->operators[i].samples == was->operators[i].samples);
		}
		CHECK(!memcmp(&is->cpu, &was->cpu, sizeof(was->cpu)));
		CHECK(graph__equal(is->graph, was->graph));
		CHECK(!graph__equal(is->graph, read->workers[0].graph));
		CHECK(!read->workers[2].graph);
		CHECK(is->late && is->tid == was->tid && is->index == 1);
		CHECK(read->threads[0].worker == snapshot->threads[0].worker);
		CHECK(!memcmp(&read->losses, &snapshot->losses, sizeof(read->losses)));
		CHECK_TEXT(read->cost.dropped, "park probes");
	}
	snapshot__free(read);
	snapshot__free(snapshot);
	free(file.bytes);
}

/* Workers with the same graph share one, which is freed once. */
static void test_shared_graph(void)
{
	struct snapshot *one = fixture_snapshot(1, false), *many = fixture_snapshot(9, false);
	struct file small = write_file(one), large = write_file(many);
	struct snapshot *read = NULL;

	CHECK(read_file(&large, &read, NULL) == 0);
	for (size_t i = 0; read && i < 9; i++)
		CHECK(read->workers[i].graph == read->workers[0].graph);
	CHECK(large.len < 9 * small.len);
	snapshot__free(read);
	snapshot__free(one);
	snapshot__free(many);
	free(small.bytes);
	free(large.bytes);
}

/* What comes from another program's memory need not be UTF-8; it is written as it is shown. */
static void test_hostile_names(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct graph_node *node = &snapshot->workers[0].graph->nodes[5];

	free(node->name);
	node->name = strdup("\"\\\x01\xff\xe2\x82\n");
	memset(snapshot->threads[1].comm, 0xc3, sizeof(snapshot->threads[1].comm));
	memset(snapshot->host, 0xff, sizeof(snapshot->host) - 1);
	free(snapshot->exe);
	snapshot->exe = strdup("/opt/\xff\xfe/x");
	memset(snapshot->host + 20, 0, sizeof(snapshot->host) - 20);
	check_round_trip(snapshot);
	snapshot__free(snapshot);
}

static void refused(struct file *file, int wanted, const char *says)
{
	struct snapshot *read = NULL;
	struct fail fail = { 0 };
	int err = read_file(file, &read, &fail);

	if (!CHECK(err == wanted) || !CHECK(strstr(fail.text, says) != NULL))
		fprintf(stderr, "  %d: %s\n", err, fail.text);
	snapshot__free(read);
}

static void test_refused(void)
{
	struct snapshot *snapshot = fixture_snapshot(1, false);
	struct file file = write_file(snapshot);
	struct file text = { .bytes = (char *)"{\"metrics\":[]}", .len = 14 };
	struct file none = { 0 }, longer = { malloc(file.len + 1), file.len + 1 };

	refused(&text, -EBADMSG, "it is no snapshot file");
	refused(&none, -EBADMSG, "it is no snapshot file");
	memcpy(longer.bytes, file.bytes, file.len);
	longer.bytes[file.len] = 0;
	refused(&longer, -EBADMSG, "damaged");
	sum_up(&longer);
	refused(&longer, -EBADMSG, "damaged");
	file.bytes[VERSION_AT] = 3;
	refused(&file, -ENOTSUP, "version 3, and this program reads version 2");
	CHECK(snapshot_file__is_one(file.bytes, file.len));
	CHECK(!snapshot_file__is_one(file.bytes, 7));
	free(longer.bytes);
	free(file.bytes);
	snapshot__free(snapshot);
}

static void test_truncated(void)
{
	struct snapshot *snapshot = rich_snapshot();
	struct file whole = write_file(snapshot);

	for (size_t len = 0; len < whole.len; len++) {
		struct file file = { malloc(len + 1), len };
		struct snapshot *read = NULL;

		memcpy(file.bytes, whole.bytes, len);
		CHECK(read_file(&file, &read, NULL) == -EBADMSG);
		/* Cut, and yet with a checksum that fits. */
		if (len > 40) {
			memcpy(file.bytes + len - 16, whole.bytes + whole.len - 16, 16);
			sum_up(&file);
			CHECK(read_file(&file, &read, NULL) == -EBADMSG);
		}
		CHECK(!read);
		free(file.bytes);
	}
	free(whole.bytes);
	snapshot__free(snapshot);
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* A few bytes changed, or a number made small or huge. */
static void damage(struct file *file, uint32_t *state)
{
	static const uint64_t numbers[] = { 0,	   1,	       2,	   3,	      255,
					    65536, UINT32_MAX, 1ULL << 61, INT64_MAX, UINT64_MAX };
	size_t len = file->len - 4, at = next(state) % len;
	uint64_t number;

	if (next(state) % 2) {
		number = numbers[next(state) % (sizeof(numbers) / sizeof(numbers[0]))];
		for (size_t i = 0; i < 8 && at + i < len; i++)
			file->bytes[at + i] = (char)(number >> (8 * i));
		return;
	}
	for (uint32_t flips = 1 + next(state) % 3; flips > 0; flips--) {
		file->bytes[at] ^= (char)(1u << next(state) % 8);
		at = next(state) % len;
	}
}

/* What is accepted can be shown and written again like any other. */
static void use(const struct snapshot *snapshot)
{
	char *text = export(snapshot);

	free(text);
	text = render(snapshot, true, 80);
	free(text);
	check_round_trip(snapshot);
}

static void test_damaged(void)
{
	struct snapshot *snapshot = rich_snapshot();
	struct file whole = write_file(snapshot);
	uint32_t state = 4711;
	size_t accepted = 0, refused = 0;

	for (size_t i = 0; i < CASES; i++) {
		struct file file = { malloc(whole.len), whole.len };
		struct snapshot *read = NULL;
		struct fail fail = { 0 };
		int err;

		memcpy(file.bytes, whole.bytes, whole.len);
		damage(&file, &state);
		/* Without a checksum that fits, every change is seen. */
		if (memcmp(file.bytes, whole.bytes, whole.len))
			CHECK(read_file(&file, &read, NULL) < 0);
		sum_up(&file);
		err = read_file(&file, &read, &fail);
		if (err) {
			CHECK(!read && fail.text[0]);
			refused++;
		} else if (accepted++ % 50 == 0) {
			use(read);
		}
		snapshot__free(read);
		free(file.bytes);
	}
	CHECK(accepted > CASES / 10 && refused > CASES / 10);
	free(whole.bytes);
	snapshot__free(snapshot);
}

static void test_full_disk(void)
{
	struct snapshot *snapshot = fixture_snapshot(64, false);
	FILE *full = fopen("/dev/full", "w");

	if (CHECK(full != NULL)) {
		setvbuf(full, NULL, _IONBF, 0);
		CHECK(snapshot_file__write(snapshot, full) == -ENOSPC);
		fclose(full);
	}
	snapshot__free(snapshot);
}

int main(void)
{
	test_round_trip();
	test_fields();
	test_shared_graph();
	test_hostile_names();
	test_refused();
	test_truncated();
	test_damaged();
	test_full_disk();
	return CHECK_RESULT();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A writer of a store, for tests/test_store.py:
 *
 *   store_driver put FOLDER KEEP PID BEGIN STEP COUNT [PADDING [empty]]
 *
 * keeps COUNT snapshots of process PID, whose windows of STEP seconds follow upon each other from
 * BEGIN (Unix seconds) on; COUNT 0 goes on for ever. Says a line for each: "kept NUMBER", or why
 * not. Threads as many as PADDING make files larger.
 *
 *   store_driver list FOLDER PID FROM TO     the files, one a line
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "store/store.h"

#define NANOS	    1000000000LL
#define START_TICKS 4711

static struct snapshot *make(pid_t pid, size_t padding, bool empty)
{
	struct snapshot *snapshot = fixture_snapshot(empty ? 0 : 2, false);

	snapshot->pid = pid;
	free(snapshot->threads);
	snapshot->threads = calloc(padding + 1, sizeof(*snapshot->threads));
	snapshot->thread_count = empty ? 0 : padding;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->threads[i] = (struct snapshot_thread){ .tid = (pid_t)i + 1,
								 .comm = "thread",
								 .worker = -1,
								 .role = ROLE_OTHER,
								 .observed_ns = 1,
								 .on_cpu_ns = 1 };
	return snapshot;
}

static int put(char **words, size_t padding, bool empty)
{
	uint64_t keep = strtoull(words[1], NULL, 10), count = strtoull(words[5], NULL, 10);
	int64_t begin = strtoll(words[3], NULL, 10), step = strtoll(words[4], NULL, 10);
	struct snapshot *snapshot = make((pid_t)strtol(words[2], NULL, 10), padding, empty);
	struct fail fail = { 0 };
	struct store *store;
	int failures = 0;

	if (store__open(words[0], keep, &store, &fail)) {
		fprintf(stderr, "%s\n", fail.text);
		snapshot__free(snapshot);
		return 1;
	}
	printf("open\n");
	for (uint64_t i = 0; count == 0 || i < count; i++) {
		snapshot->window_start_unix_ns = (begin + (int64_t)i * step) * NANOS;
		snapshot->window_ns = (uint64_t)(step * NANOS);
		fail__clear(&fail);
		if (store__put(store, snapshot, START_TICKS, &fail)) {
			printf("%s\n", fail.text);
			failures++;
		} else {
			printf("kept %" PRIu64 "\n", i);
		}
	}
	store__close(store);
	snapshot__free(snapshot);
	return failures ? 3 : 0;
}

static int list(char **words)
{
	struct store_file *files = NULL;
	struct fail fail = { 0 };
	struct store *store;
	size_t count = 0;
	char text[STORED_NAME_SIZE];

	if (store__open_to_read(words[0], &store, &fail)) {
		fprintf(stderr, "%s\n", fail.text);
		return 1;
	}
	if (store__find(store, (pid_t)strtol(words[1], NULL, 10),
			strtoll(words[2], NULL, 10) * NANOS, strtoll(words[3], NULL, 10) * NANOS,
			&files, &count))
		return 1;
	for (size_t i = 0; i < count; i++)
		if (!stored_name__format(&files[i].name, text))
			printf("%s\n", text);
	free(files);
	store__close(store);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 8 && !strcmp(argv[1], "put"))
		return put(argv + 2, argc > 8 ? strtoul(argv[8], NULL, 10) : 1, argc > 9);
	if (argc == 6 && !strcmp(argv[1], "list"))
		return list(argv + 2);
	return 2;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names in a store, which profiles stay in it, and how one is found.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "snapshot/snapshot_file.h"
#include "store/retention.h"
#include "store/store.h"

#define NANOS INT64_C(1000000000)
#define MAX   4096

static const char good[] = "dbprof-20261130T215754.123456789Z-0000060000ms-p0000004321-"
			   "s00000000000000123456-c.dbprof";

static void check_names(void)
{
	struct stored_name name;
	char text[STORED_NAME_SIZE];

	if (!CHECK(stored_name__parse(good, &name)))
		return;
	CHECK(name.unix_ns == 1796075874123456789 && name.window_ns == 60 * NANOS);
	CHECK(name.pid == 4321 && name.start_ticks == 123456 && name.quality == STORED_COMPLETE);
	CHECK(stored_name__end(&name) == name.unix_ns + 60 * NANOS);
	CHECK(stored_name__format(&name, text) == 0);
	CHECK_TEXT(text, good);
	name.start_ticks = UINT64_MAX;
	name.pid = INT32_MAX;
	CHECK(stored_name__format(&name, text) == 0 && stored_name__parse(text, &name));
	CHECK(name.start_ticks == UINT64_MAX && name.pid == INT32_MAX);
	name.unix_ns = -1;
	CHECK(stored_name__format(&name, text) == -ERANGE);
	name.unix_ns = INT64_MAX;
	CHECK(stored_name__format(&name, text) == 0);
	name.window_ns = UINT64_MAX;
	CHECK(stored_name__format(&name, text) == -ERANGE);
	name.window_ns = name.pid = 0;
	CHECK(stored_name__format(&name, text) == -ERANGE);
}

/* No name but one that is written like that is taken. */
static void check_hostile_names(void)
{
	static const char *const bad[] = {
		"",
		".",
		"..",
		"../x",
		"dbprof-",
		"x.dbprof",
		".dbprof-store-0123456789abcdef.tmp",
		"dbprof-20260231T215754.123456789Z-0000060000ms-p0000004321-s00000000000000123456-"
		"c.dbprof",
		"dbprof-20261130T245754.123456789Z-0000060000ms-p0000004321-s00000000000000123456-"
		"c.dbprof",
		"dbprof-20261130T215754.123456789Z-0000060000ms-p0000000000-s00000000000000123456-"
		"c.dbprof",
		"dbprof-20261130T215754.123456789Z-0000060000ms-p4294967296-s00000000000000123456-"
		"c.dbprof",
		"dbprof-20261130T215754.123456789Z-0000060000ms-p0000004321-s99999999999999999999-"
		"c.dbprof",
		"dbprof-19691130T215754.123456789Z-0000060000ms-p0000004321-s00000000000000123456-"
		"c.dbprof",
		"dbprof-99991130T215754.123456789Z-0000060000ms-p0000004321-s00000000000000123456-"
		"c.dbprof",
	};
	struct stored_name name;
	char text[STORED_NAME_SIZE];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK(!stored_name__parse(bad[i], &name)))
			fprintf(stderr, "  %s\n", bad[i]);
	for (size_t at = 0; at < sizeof(good) - 1; at++) {
		memcpy(text, good, sizeof(good));
		text[at] = '/';
		CHECK(!stored_name__parse(text, &name));
		text[at] = '\0';
		CHECK(!stored_name__parse(text, &name));
	}
	snprintf(text, sizeof(text), "%s~", good);
	CHECK(!stored_name__parse(text, &name));
}

static void check_quality(void)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);

	CHECK(stored_name__of(snapshot, 1).quality == STORED_COMPLETE);
	snapshot->losses.threads = 1;
	CHECK(stored_name__of(snapshot, 1).quality == STORED_INCOMPLETE);
	snapshot__free(snapshot);
	snapshot = fixture_snapshot(0, true);
	snapshot->thread_count = 0;
	CHECK(stored_name__of(snapshot, 1).quality == STORED_EMPTY);
	/* A pipeline that makes no step is worth a profile. */
	snapshot->thread_count = 1;
	CHECK(stored_name__of(snapshot, 1).quality == STORED_COMPLETE);
	snapshot__free(snapshot);
}

/* Writes one file after the other and removes as a store does. Returns how many are left. */
static size_t keep_writing(struct retention_file *files, size_t *count,
			   const struct retention_file *next, uint64_t keep)
{
	size_t left = 0;

	files[(*count)++] = *next;
	CHECK(retention__choose(files, *count, keep) == 0);
	for (size_t i = 0; i < *count; i++)
		if (!files[i].remove)
			files[left++] = files[i];
	*count = left;
	return left;
}

/* The longest time between two files of a process, from the first to the last one. */
static int64_t longest_gap(const struct retention_file *files, size_t count, uint64_t process)
{
	const struct retention_file *before = NULL;
	int64_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		if (files[i].process != process)
			continue;
		if (before && files[i].unix_ns - before->unix_ns > longest)
			longest = files[i].unix_ns - before->unix_ns;
		before = &files[i];
	}
	return longest / NANOS;
}

/* A minute's profiles of a week in room for 200: the whole week is covered evenly. */
static void check_evenness(void)
{
	static struct retention_file files[MAX];
	struct retention_file next = { .process = 1, .size = 10 };
	size_t count = 0, written = 7 * 24 * 60, fair = written * 60 / 200;

	for (size_t i = 0; i < written; i++) {
		next.unix_ns = (1700000000 + (int64_t)i * 60) * NANOS;
		keep_writing(files, &count, &next, 2000);
		CHECK(count <= 200 && (i < 200 || count == 200));
		CHECK(files[count - 1].unix_ns == next.unix_ns);
	}
	CHECK(files[0].unix_ns == 1700000000 * NANOS);
	/* Slots are powers of two, so that a gap is at most twice what is fair, and a slot's edges.
	 */
	CHECK(longest_gap(files, count, 1) <= (int64_t)(4 * fair));
}

/* Eight processes that run at the same time and one of a minute long ago. */
static void check_processes(void)
{
	static struct retention_file files[MAX];
	struct retention_file next = { .size = 1 };
	size_t count = 0, of[10] = { 0 };

	next = (struct retention_file){ .unix_ns = 1700000000 * NANOS, .process = 9, .size = 1 };
	keep_writing(files, &count, &next, 400);
	for (int64_t i = 0; i < 3000; i++) {
		for (uint64_t process = 0; process < 8; process++) {
			next.process = process;
			next.unix_ns = (1700000000 + i * 30) * NANOS + (int64_t)process;
			keep_writing(files, &count, &next, 400);
		}
	}
	for (size_t i = 0; i < count; i++)
		of[files[i].process]++;
	CHECK(of[9] == 1);
	for (size_t process = 0; process < 8; process++)
		if (!CHECK(of[process] >= 25 && of[process] <= 100))
			fprintf(stderr, "  process %zu: %zu\n", process, of[process]);
}

/* Processes that live for one profile only: the whole time is covered nevertheless. */
static void check_short_lives(void)
{
	static struct retention_file files[MAX];
	struct retention_file next = { .size = 1 };
	size_t count = 0, old = 0;

	for (int64_t i = 0; i < 5000; i++) {
		next.process = (uint64_t)i;
		next.unix_ns = (1700000000 + i * 60) * NANOS;
		keep_writing(files, &count, &next, 100);
	}
	CHECK(count == 100);
	for (size_t i = 0; i < count; i++)
		old += files[i].unix_ns < (1700000000 + 2500 * 60) * NANOS;
	CHECK(old >= 25 && old <= 75);
}

static void check_choice(void)
{
	struct retention_file files[] = {
		{ 10 * NANOS, 1, 5, false, false }, { 20 * NANOS, 1, 5, true, false },
		{ 30 * NANOS, 1, 5, false, false }, { 40 * NANOS, 1, 5, true, false },
		{ 50 * NANOS, 2, 5, false, false }, { 60 * NANOS, 1, 5, true, false },
	};

	CHECK(retention__choose(files, 6, 30) == 0);
	for (size_t i = 0; i < 6; i++)
		CHECK(!files[i].remove);
	/* Empty ones go first, also when nothing is newer. */
	CHECK(retention__choose(files, 6, 15) == 0);
	for (size_t i = 0; i < 6; i++)
		CHECK(files[i].remove == files[i].empty);
	CHECK(retention__choose(files, 6, 0) == 0);
	for (size_t i = 0; i < 6; i++)
		CHECK(files[i].remove == (i != 4));
	CHECK(retention__choose(NULL, 0, 0) == 0);
}

static struct stored_name name_at(int64_t seconds, pid_t pid, enum stored_quality quality)
{
	return (struct stored_name){ .unix_ns = seconds * NANOS,
				     .window_ns = 10 * NANOS,
				     .pid = pid,
				     .start_ticks = (uint64_t)pid * 100,
				     .quality = quality };
}

static void put(struct store *store, int64_t seconds, pid_t pid, enum stored_quality quality,
		int wanted)
{
	struct stored_name name = name_at(seconds, pid, quality);
	struct fail fail = { 0 };
	int err = store__put_bytes(store, &name, "0123456789", 10, &fail);

	if (!CHECK(err == wanted))
		fprintf(stderr, "  %d: %s\n", err, fail.text);
}

static void check_at(const struct store *store, pid_t pid, int64_t seconds, int64_t wanted)
{
	struct store_file file = { 0 };

	CHECK(store__at(store, pid, seconds * NANOS, &file, NULL) == 0);
	if (!CHECK(file.name.unix_ns == wanted * NANOS && (!pid || file.name.pid == pid)))
		fprintf(stderr, "  at %" PRId64 ": %" PRId64 "\n", seconds,
			file.name.unix_ns / NANOS);
}

/* How many there are, in the order of time. */
static size_t count_found(const struct store *store, pid_t pid, int64_t from, int64_t to)
{
	struct store_file *files = NULL;
	size_t count = 0;

	CHECK(store__find(store, pid, from, to, &files, &count) == 0);
	for (size_t i = 1; i < count; i++)
		CHECK(files[i - 1].name.unix_ns <= files[i].name.unix_ns);
	free(files);
	return count;
}

static void check_finding(struct store *store)
{
	struct store_file file;
	struct fail fail = { 0 };

	check_at(store, 7, 1000, 1000);
	check_at(store, 7, 1009, 1000);
	check_at(store, 7, 1010, 1010);
	check_at(store, 7, 1, 1000);
	check_at(store, 7, 99999, 1110);
	check_at(store, 7, 1055, 1060); /* nearer than the one before */
	check_at(store, 0, 1000, 1000);
	check_at(store, 8, 1000, 1110);
	CHECK(store__at(store, 9, 1000 * NANOS, &file, &fail) == -ENOENT);
	fail__clear(&fail);
	CHECK(store__at(store, 0, 1115 * NANOS, &file, &fail) == -ENOTUNIQ);
	CHECK(strstr(fail.text, "7, 8") != NULL);
	CHECK(count_found(store, 7, 1000 * NANOS, 1015 * NANOS) == 2);
	CHECK(count_found(store, 0, 0, INT64_MAX) == 5);
}

static void check_store(const char *path)
{
	struct store *store, *other;
	size_t count;
	uint64_t bytes;

	if (!CHECK(store__open(path, 5 * 4096, &store, NULL) == 0))
		return;
	CHECK(store__open(path, 1, &other, NULL) == -EBUSY);
	put(store, 1010, 7, STORED_COMPLETE, 0);
	put(store, 1000, 7, STORED_COMPLETE, 0);
	put(store, 1000, 7, STORED_COMPLETE, -EEXIST);
	put(store, 1060, 7, STORED_COMPLETE, 0);
	put(store, 1110, 7, STORED_COMPLETE, 0);
	put(store, 1110, 8, STORED_COMPLETE, 0);
	check_finding(store);
	put(store, 1200, 8, STORED_EMPTY, -ENODATA);
	CHECK(store__open_to_read(path, &other, NULL) == 0);
	check_finding(other);
	store__close(other);
	put(store, 1200, 8, STORED_COMPLETE, 0);
	store__usage(store, &count, &bytes);
	CHECK(count == 5 && bytes == 5 * 4096);
	store__close(store);
	CHECK(store__open(path, 2 * 4096, &store, NULL) == 0);
	store__usage(store, &count, &bytes);
	CHECK(count == 2);
	store__close(store);
}

/* What a snapshot is stored as is read as that. */
static void check_snapshot(const char *path)
{
	struct snapshot *snapshot = fixture_snapshot(2, false), *read = NULL;
	struct store_file file;
	struct store *store;
	FILE *in;
	int fd;

	if (!CHECK(store__open(path, 1 << 20, &store, NULL) == 0))
		return;
	CHECK(store__put(store, snapshot, 77, NULL) == 0);
	CHECK(store__at(store, snapshot->pid, 0, &file, NULL) == 0 && file.name.start_ticks == 77);
	fd = store__read(store, &file.name, NULL);
	in = fd < 0 ? NULL : fdopen(fd, "r");
	CHECK(in && snapshot_file__read(in, &read, NULL) == 0 && read->pid == snapshot->pid);
	if (in)
		fclose(in);
	snapshot__free(read);
	snapshot__free(snapshot);
	store__close(store);
}

int main(void)
{
	char folder[] = "/tmp/dbprof-store-XXXXXX", path[64], command[80];

	check_names();
	check_hostile_names();
	check_quality();
	check_choice();
	check_evenness();
	check_processes();
	check_short_lives();
	if (CHECK(mkdtemp(folder) != NULL)) {
		snprintf(path, sizeof(path), "%s/store", folder);
		check_store(path);
		check_snapshot(path);
		snprintf(command, sizeof(command), "rm -r %s", folder);
		CHECK(system(command) == 0);
	}
	return CHECK_RESULT();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the daemon tells of itself, in numbers. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "serve/own.h"

#define GAUGE	METRIC_GAUGE
#define COUNTER METRIC_COUNTER

static uint64_t resident_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long long size, resident = 0;

	if (!statm)
		return 0;
	if (fscanf(statm, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	fclose(statm);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	uint64_t count = 0;

	if (!files)
		return 0;
	while (readdir(files))
		count++;
	closedir(files);
	/* Without ".", ".." and the one that was just read. */
	return count > 3 ? count - 3 : 0;
}

static void add(struct own *own, const struct metrics_number *number)
{
	if (own->count < OWN_NUMBERS_MAX)
		own->numbers[own->count++] = *number;
}

static void add_processes(struct own *own, const struct serve *serve)
{
	static const char *const states[] = { "starting", "profiled", "refused" };

	for (enum served_state state = 0; state < SERVED_ENDED; state++) {
		struct metrics_number number = { "dbprof_processes",
						 GAUGE,
						 NULL,
						 "DBSP processes that are known now.",
						 "state",
						 states[state],
						 0 };

		for (size_t i = 0; i < serve->process_count; i++)
			number.number += serve->processes[i]->state == state;
		add(own, &number);
	}
	add(own, &(struct metrics_number){ "dbprof_profiler_attached", COUNTER, NULL,
					   "Processes that were begun to be profiled.", NULL, NULL,
					   serve->attached });
	add(own, &(struct metrics_number){ "dbprof_profiler_detached", COUNTER, NULL,
					   "Of them, those that have gone.", NULL, NULL,
					   serve->detached });
}

static void add_errors(struct own *own, const struct serve *serve)
{
	const struct serve_errors *errors = &serve->errors;
	const struct {
		const char *kind;
		uint64_t count;
	} kinds[] = {
		{ "attach", errors->attach },	  { "windows", errors->windows },
		{ "edges", errors->edges },	  { "discovery", errors->discovery },
		{ "profiles", errors->profiles }, { "store", errors->store },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		add(own, &(struct metrics_number){ "dbprof_profiler_errors", COUNTER, NULL,
						   "What failed, by what was being done.", "kind",
						   kinds[i].kind, kinds[i].count });
}

static void add_maps(struct own *own, const struct serve *serve)
{
	struct session_fill fills[SESSION_FILLS];

	session__fill(serve->session, fills);
	for (size_t i = 0; i < SESSION_FILLS; i++)
		add(own, &(struct metrics_number){ "dbprof_profiler_map_entries", GAUGE, NULL,
						   "Entries of the programs' maps that are in use.",
						   "map", fills[i].map, fills[i].used });
	for (size_t i = 0; i < SESSION_FILLS; i++)
		add(own, &(struct metrics_number){ "dbprof_profiler_map_room", GAUGE, NULL,
						   "Entries for which there is room.", "map",
						   fills[i].map, fills[i].room });
	add(own, &(struct metrics_number){ "dbprof_profiler_links", GAUGE, NULL,
					   "Probes and timers that are in the kernel, by link.",
					   NULL, NULL, session__attachments(serve->session) });
}

static void add_answers(struct own *own, const struct serve *serve)
{
	static const char *const classes[] = { NULL, "1xx", "2xx", "3xx", "4xx", "5xx" };
	struct http_counts counts = { 0 };

	http_server__counts(serve->http, &counts);
	for (size_t i = 2; i < 6; i++)
		add(own, &(struct metrics_number){ "dbprof_http_answers", COUNTER, NULL,
						   "Answers to requests, by class of status.",
						   "status", classes[i], counts.answers[i] });
	add(own,
	    &(struct metrics_number){ "dbprof_http_connections", GAUGE, NULL,
				      "Connections that are open now.", NULL, NULL, counts.open });
}

static void add_store(struct own *own, const struct serve *serve)
{
	size_t files = 0;
	uint64_t bytes = 0;

	if (!serve->store)
		return;
	store__usage(serve->store, &files, &bytes);
	add(own, &(struct metrics_number){ "dbprof_store_profiles", GAUGE, NULL,
					   "Profiles that are kept.", NULL, NULL, files });
	add(own, &(struct metrics_number){ "dbprof_store_bytes", GAUGE, "bytes",
					   "Room that they take.", NULL, NULL, bytes });
}

void own__read(const struct serve *serve, struct own *ret_own)
{
	ret_own->count = 0;
	add_processes(ret_own, serve);
	add_errors(ret_own, serve);
	add_maps(ret_own, serve);
	add(ret_own, &(struct metrics_number){ "dbprof_profiler_resident_bytes", GAUGE, "bytes",
					       "Resident memory of the profiler's process.", NULL,
					       NULL, resident_bytes() });
	add(ret_own,
	    &(struct metrics_number){ "dbprof_profiler_open_files", GAUGE, NULL,
				      "Its open file descriptors.", NULL, NULL, open_files() });
	add_answers(ret_own, serve);
	add_store(ret_own, serve);
}

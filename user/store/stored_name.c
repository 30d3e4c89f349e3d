// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/stored_name.h"

#define NANOS	     1000000000LL
#define NANOS_PER_MS 1000000ULL
#define MS_MAX	     9999999999ULL  /* of ten digits: 115 days */
#define SECONDS_MAX  253402300799LL /* the end of the year 9999 */
#define QUALITIES    "eic"

#define PATTERN \
	"dbprof-%04d%02d%02dT%02d%02d%02d.%09dZ-%010" PRIu64 "ms-p%010d-s%020" PRIu64 "-%c.dbprof"
#define SHAPE                                                                                 \
	"dbprof-########T######.#########Z-##########ms-p##########-s####################-?." \
	"dbprof"

static bool saw_something(const struct snapshot *snapshot)
{
	if (snapshot->exited.observed_ns > 0)
		return true;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].observed_ns > 0)
			return true;
	for (size_t i = 0; i < snapshot->worker_count; i++) {
		const struct snapshot_worker *worker = &snapshot->workers[i];

		for (size_t j = 0; j < worker->circuit_count; j++)
			if (worker->circuits[j].steps > 0 || worker->circuits[j].step_open)
				return true;
	}
	return false;
}

struct stored_name stored_name__of(const struct snapshot *snapshot, uint64_t start_ticks)
{
	enum stored_quality quality = STORED_COMPLETE;

	if (!saw_something(snapshot))
		quality = STORED_EMPTY;
	else if (snapshot__incomplete(snapshot))
		quality = STORED_INCOMPLETE;
	return (struct stored_name){
		.unix_ns = snapshot->window_start_unix_ns,
		.window_ns = snapshot->window_ns / NANOS_PER_MS * NANOS_PER_MS,
		.pid = snapshot->pid,
		.start_ticks = start_ticks,
		.quality = quality,
	};
}

int stored_name__format(const struct stored_name *name, char text[STORED_NAME_SIZE])
{
	uint64_t milliseconds = name->window_ns / NANOS_PER_MS;
	time_t seconds = (time_t)(name->unix_ns / NANOS);
	struct tm tm;

	if (name->unix_ns < 0 || seconds > SECONDS_MAX || milliseconds > MS_MAX || name->pid < 1 ||
	    (unsigned int)name->quality > STORED_COMPLETE || !gmtime_r(&seconds, &tm))
		return -ERANGE;
	snprintf(text, STORED_NAME_SIZE, PATTERN, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
		 tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(name->unix_ns % NANOS), milliseconds,
		 name->pid, name->start_ticks, QUALITIES[name->quality]);
	return 0;
}

static bool has_shape(const char *text)
{
	const char *shape = SHAPE;

	for (; *shape; shape++, text++) {
		if (*shape == '#'   ? *text < '0' || *text > '9'
		    : *shape == '?' ? !*text || !strchr(QUALITIES, *text)
				    : *text != *shape)
			return false;
	}
	return !*text;
}

/* The number of @len digits at @at. */
static uint64_t digits(const char *at, size_t len)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len; i++)
		number = number * 10 + (uint64_t)(at[i] - '0');
	return number;
}

bool stored_name__parse(const char *text, struct stored_name *ret_name)
{
	struct stored_name name = { 0 };
	char again[STORED_NAME_SIZE];
	struct tm tm = { 0 };
	const char *date = text + strlen("dbprof-"), *part = date + strlen("########T######.");
	uint64_t pid;
	int64_t seconds;

	if (!has_shape(text))
		return false;
	tm.tm_year = (int)digits(date, 4) - 1900;
	tm.tm_mon = (int)digits(date + 4, 2) - 1;
	tm.tm_mday = (int)digits(date + 6, 2);
	tm.tm_hour = (int)digits(date + 9, 2);
	tm.tm_min = (int)digits(date + 11, 2);
	tm.tm_sec = (int)digits(date + 13, 2);
	seconds = timegm(&tm);
	/* The year 2262 is the last one that nanoseconds have room for. */
	if (seconds < 0 || seconds >= INT64_MAX / NANOS)
		return false;
	name.unix_ns = seconds * NANOS + (int64_t)digits(part, 9);
	part = strchr(part, '-') + 1;
	name.window_ns = digits(part, 10) * NANOS_PER_MS;
	part = strchr(part, '-') + strlen("-p");
	pid = digits(part, 10);
	if (pid > INT32_MAX)
		return false;
	name.pid = (pid_t)pid;
	part = strchr(part, '-') + strlen("-s");
	name.start_ticks = digits(part, 20);
	part = strchr(part, '-') + 1;
	name.quality = (enum stored_quality)(strchr(QUALITIES, *part) - QUALITIES);
	/* Whatever is not written like this, such as the 31st of February, is not ours. */
	if (stored_name__format(&name, again) || strcmp(again, text) != 0)
		return false;
	*ret_name = name;
	return true;
}

int64_t stored_name__end(const struct stored_name *name)
{
	int64_t end;

	return __builtin_add_overflow(name->unix_ns, (int64_t)name->window_ns, &end) ? INT64_MAX
										     : end;
}

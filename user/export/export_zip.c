// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The JSON profile in a zip archive, written as a stream.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/export.h"
#include "export/export_zip.h"
#include "util/zip_writer.h"

#define NANOS_PER_SECOND 1000000000
#define NANOS_PER_MILLI	 1000000
#define START_OF_1980	 315532800

int64_t export_zip_time(const struct profile_source *source)
{
	int64_t seconds = source->start_unix_ns / NANOS_PER_SECOND;

	return seconds > START_OF_1980 ? seconds : START_OF_1980;
}

static int write_json(struct profile_source *source, const char *name, FILE *out, struct fail *fail)
{
	struct zip_writer *zip = NULL;
	int err = zip_writer__open(out, export_zip_time(source), &zip, fail);
	FILE *entry = err ? NULL : zip_writer__entry(zip, name);

	if (entry)
		err = export_json(source, entry, fail);
	/* Of a failed write the archive knows the reason. */
	if (zip && (!err || ferror(entry)))
		err = zip_writer__finish(zip, fail);
	zip_writer__close(zip);
	return err;
}

/* DbspProfile::as_json_zip() of src/profile.rs. */
int export_json_zip(struct profile_source *source, FILE *out, struct fail *fail)
{
	return write_json(source, "profile.json", out, fail);
}

/*
 * A folder for one collection, as Feldera's viewer groups the files of a support bundle:
 * "2026-05-25T12-34-56.789Z/circuit_profile.json". A profile of unknown time is one of now, which
 * is when it is collected.
 */
static int bundle_entry(const struct profile_source *source, char *name, size_t size)
{
	struct timespec start = { source->start_unix_ns / NANOS_PER_SECOND,
				  source->start_unix_ns % NANOS_PER_SECOND };
	char seconds[40];
	struct tm utc;

	if (source->start_unix_ns <= 0)
		clock_gettime(CLOCK_REALTIME, &start);
	if (!gmtime_r(&start.tv_sec, &utc) ||
	    strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H-%M-%S", &utc) == 0)
		return -EOVERFLOW;
	snprintf(name, size, "%s.%03dZ/circuit_profile.json", seconds,
		 (int)(start.tv_nsec / NANOS_PER_MILLI));
	return 0;
}

int export_bundle(struct profile_source *source, FILE *out, struct fail *fail)
{
	char name[80];
	int err = bundle_entry(source, name, sizeof(name));

	if (err)
		return fail__set(fail, err, "the profile's time cannot be written as a date");
	return write_json(source, name, out, fail);
}

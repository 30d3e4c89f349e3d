// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A window that is written at once and the same by way of its JSON give the same bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "reader/reader.h"
#include "util/utf8.h"
#include "check.h"
#include "fixture.h"

struct bytes {
	char *data;
	size_t size;
};

static struct bytes export(struct profile_source *source, const char *format)
{
	const struct exporter *exporter = exporter__find(format);
	struct bytes bytes = { 0 };
	struct fail fail = { 0 };
	FILE *out = open_memstream(&bytes.data, &bytes.size);

	CHECK(exporter->write(source, out, &fail) == 0);
	CHECK_TEXT(fail.text, "");
	fclose(out);
	return bytes;
}

/* A file with the profile as JSON. */
static void write_json(struct profile_source *source, char *path)
{
	struct bytes json = export(source, "json");
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, json.data, json.size) == (ssize_t)json.size);
	close(fd);
	free(json.data);
}

static void test_same_bytes(const struct snapshot *snapshot, const char *format)
{
	const char *folder = getenv("TMPDIR");
	struct profile_source *window = NULL, *file = NULL;
	struct bytes direct, read;
	struct fail fail = { 0 };
	char path[300];

	snprintf(path, sizeof(path), "%s/dbprof-XXXXXX", folder ? folder : "/tmp");
	CHECK(snapshot_source__open(snapshot, &window) == 0);
	write_json(window, path);
	CHECK(profile_reader__open(path, &file, &fail) == 0);
	direct = export(window, format);
	read = export(file, format);
	CHECK(direct.size > 100 && direct.size == read.size);
	CHECK(direct.size == read.size && !memcmp(direct.data, read.data, read.size));
	/* And it can be told again. */
	free(read.data);
	read = export(window, format);
	CHECK(direct.size == read.size && !memcmp(direct.data, read.data, read.size));
	free(direct.data);
	free(read.data);
	profile_source__close(window);
	profile_source__close(file);
	unlink(path);
}

/* A disk that is full is an error, whenever it is noticed. */
static void test_full_disk(const char *format)
{
	struct snapshot *snapshot = fixture_snapshot(2, false);
	const struct exporter *exporter = exporter__find(format);
	struct profile_source *source = NULL;
	struct fail fail = { 0 };
	FILE *full = fopen("/dev/full", "w");
	int err;

	CHECK(snapshot_source__open(snapshot, &source) == 0);
	setvbuf(full, NULL, _IONBF, 0);
	err = exporter->write(source, full, &fail);
	CHECK(err == -ENOSPC || err == -EIO);
	profile_source__close(source);
	snapshot__free(snapshot);
	fclose(full);
}

static void test_clean_text(void)
{
	char *clean = utf8__clean("a\xff" UTF8_NUL "\xc3\xa4z", 6);

	CHECK_TEXT(clean, "a" UTF8_REPLACEMENT UTF8_REPLACEMENT "\xc3\xa4");
	free(clean);
	clean = utf8__clean("", 0);
	CHECK_TEXT(clean, "");
	free(clean);
}

int main(void)
{
	static const char *const formats[] = { "pprof", "folded" };
	struct snapshot *snapshots[] = { fixture_snapshot(3, false), fixture_snapshot(1, true) };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		test_same_bytes(snapshots[0], formats[i]);
		test_full_disk(formats[i]);
	}
	test_same_bytes(snapshots[1], "pprof");
	snapshot__free(snapshots[0]);
	snapshot__free(snapshots[1]);
	test_clean_text();
	return CHECK_RESULT();
}

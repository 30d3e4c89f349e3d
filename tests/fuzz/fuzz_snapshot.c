// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Snapshot files, with a checksum that fits: what is read can be exported, and written and read
 * again with the same result.
 */
#include <zlib.h>

#include "export/export.h"
#include "export/snapshot_source.h"
#include "export/summary.h"
#include "patches.h"
#include "snapshot/snapshot_file.h"

#define SUM_BYTES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct snapshot *read_bytes(const void *bytes, size_t len, struct fail *fail)
{
	struct snapshot *snapshot = NULL;
	FILE *file = fmemopen((void *)(uintptr_t)bytes, len, "re");

	if (!file)
		exit(2);
	if (snapshot_file__read(file, &snapshot, fail))
		snapshot = NULL;
	fclose(file);
	return snapshot;
}

static char *write_bytes(const struct snapshot *snapshot, size_t *ret_len)
{
	char *bytes = NULL;
	FILE *file = open_memstream(&bytes, ret_len);

	if (!file || snapshot_file__write(snapshot, file))
		abort();
	fclose(file);
	return bytes;
}

/* What was written of what was read is read as that again. */
static void check_round_trip(const struct snapshot *snapshot)
{
	size_t len, again_len;
	char *bytes = write_bytes(snapshot, &len), *again_bytes;
	struct snapshot *again = read_bytes(bytes, len, NULL);

	if (!again)
		abort();
	again_bytes = write_bytes(again, &again_len);
	if (len != again_len || memcmp(bytes, again_bytes, len))
		abort();
	snapshot__free(again);
	free(again_bytes);
	free(bytes);
}

static void export(const struct snapshot *snapshot)
{
	struct profile_source *source;
	struct fail fail = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		exit(2);
	if (!snapshot_source__open(snapshot, &source)) {
		exporter__find("json")->write(source, out, &fail);
		profile_source__close(source);
	}
	summary__write(out, snapshot, true, 100);
	fclose(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot *snapshot;
	struct fail fail = { 0 };
	uint8_t *copy;

	if (size <= SUM_BYTES)
		return 0;
	copy = malloc(size);
	if (!copy)
		exit(2);
	memcpy(copy, data, size);
	for (uint32_t crc = (uint32_t)crc32_z(0, copy, size - SUM_BYTES), i = 0; i < SUM_BYTES; i++)
		copy[size - SUM_BYTES + i] = (uint8_t)(crc >> 8 * i);
	snapshot = read_bytes(copy, size, &fail);
	if (snapshot) {
		check_round_trip(snapshot);
		export(snapshot);
	} else if (!fail.text[0]) {
		abort();
	}
	snapshot__free(snapshot);
	free(copy);
	return 0;
}

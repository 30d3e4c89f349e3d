// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Profiles in files: what is read can be told, twice with the same result. */
#include <stdio.h>

#include "export/export.h"
#include "patches.h"
#include "reader/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *write_json(struct profile_source *source, size_t *ret_len)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, ret_len);
	struct fail fail = { 0 };

	if (!file)
		exit(2);
	if (exporter__find("json")->write(source, file, &fail))
		*ret_len = 0;
	fclose(file);
	return text;
}

static void check(struct profile_source *source)
{
	size_t len = 0, again_len = 0;
	char *text = write_json(source, &len), *again = write_json(source, &again_len);

	if (len != again_len || memcmp(text, again, len))
		abort();
	free(text);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_source *source;
	struct fail fail = { 0 };
	char path[64];
	int fd = fuzz__file(data, size, path);

	if (!profile_reader__open(path, &source, &fail)) {
		check(source);
		profile_source__close(source);
	} else if (!fail.text[0]) {
		abort();
	}
	close(fd);
	return 0;
}

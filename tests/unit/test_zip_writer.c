// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>

#include "util/zip_writer.h"
#include "check.h"

#define BIG 300000 /* bytes, more than any buffer on the way */

/* Reads the archive back: "NAME:LENGTH:TIME " for each entry. */
static void list(const char *bytes, size_t size, char *text)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	char *content = malloc(2 * BIG);

	archive_read_support_format_zip(archive);
	CHECK(archive_read_open_memory(archive, bytes, size) == ARCHIVE_OK);
	*text = '\0';
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		la_ssize_t len = archive_read_data(archive, content, 2 * BIG);

		text += sprintf(text, "%s:%zd:%lld ", archive_entry_pathname(entry), len,
				(long long)archive_entry_mtime(entry));
		for (la_ssize_t i = 0; i < len; i++)
			if (content[i] != 'x')
				check_failures++;
	}
	free(content);
	CHECK(archive_errno(archive) == 0);
	archive_read_free(archive);
}

static void test_entries(void)
{
	struct zip_writer *writer = NULL;
	struct fail fail = { 0 };
	char *bytes = NULL, text[200];
	size_t size;
	FILE *entry, *out = open_memstream(&bytes, &size);

	CHECK(zip_writer__open(out, 1700000000, &writer, &fail) == 0);
	entry = zip_writer__entry(writer, "first.txt");
	if (CHECK(entry != NULL))
		fputs("xxx", entry);
	CHECK(zip_writer__entry(writer, "folder/empty") != NULL);
	entry = zip_writer__entry(writer, "big");
	for (int i = 0; i < BIG && entry; i++)
		fputc('x', entry);
	CHECK(zip_writer__finish(writer, &fail) == 0);
	zip_writer__close(writer);
	fclose(out);
	CHECK(size < BIG / 2); /* it is packed */
	list(bytes, size, text);
	CHECK_TEXT(text, "first.txt:3:1700000000 folder/empty:0:1700000000 big:300000:1700000000 ");
	free(bytes);
}

static void test_no_entries(void)
{
	struct zip_writer *writer = NULL;
	struct fail fail = { 0 };
	char *bytes = NULL, text[200];
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	CHECK(zip_writer__open(out, 0, &writer, &fail) == 0);
	CHECK(zip_writer__finish(writer, &fail) == 0);
	zip_writer__close(writer);
	fclose(out);
	list(bytes, size, text);
	CHECK_TEXT(text, "");
	free(bytes);
}

/* The error is the output's own, and told once. */
static void test_full_disk(void)
{
	struct zip_writer *writer = NULL;
	struct fail fail = { 0 };
	FILE *entry = NULL, *full = fopen("/dev/full", "w");
	uint32_t noise = 1;

	if (!CHECK(full != NULL))
		return;
	CHECK(zip_writer__open(full, 0, &writer, &fail) == 0);
	entry = zip_writer__entry(writer, "noise");
	for (int i = 0; i < 4 * BIG && entry; i++) {
		noise = noise * 1664525 + 1013904223;
		fputc((int)(noise >> 24), entry);
	}
	CHECK(!zip_writer__entry(writer, "more"));
	CHECK(zip_writer__finish(writer, &fail) == -ENOSPC);
	CHECK_TEXT(fail.text, "the zip archive cannot be written: No space left on device");
	zip_writer__close(writer);
	fclose(full);
}

/* A writer that is given up writes nothing more. */
static void test_given_up(void)
{
	struct zip_writer *writer = NULL;
	struct fail fail = { 0 };
	char *bytes = NULL;
	size_t size, before;
	FILE *entry, *out = open_memstream(&bytes, &size);

	CHECK(zip_writer__open(out, 0, &writer, &fail) == 0);
	entry = zip_writer__entry(writer, "half");
	if (CHECK(entry != NULL))
		fputs("half a", entry);
	fflush(out);
	before = size;
	zip_writer__close(writer);
	fclose(out);
	CHECK(size - before < 100);
	free(bytes);
	zip_writer__close(NULL);
}

int main(void)
{
	test_entries();
	test_no_entries();
	test_full_disk();
	test_given_up();
	return CHECK_RESULT();
}

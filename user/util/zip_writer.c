// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE 1 /* fopencookie */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/zip_writer.h"

struct zip_writer {
	FILE *out;
	struct archive *archive;
	FILE *entry; /* NULL between entries */
	time_t time;
	int error; /* the first one, a negative errno */
};

/* Remembers why the archive failed. */
static void note(struct zip_writer *writer)
{
	int number = archive_errno(writer->archive);

	if (!writer->error)
		writer->error = number > 0 ? -number : -EIO;
}

/*
 * Called by libarchive with what goes into the file. It is never told of an error, since it frees
 * an entry that is open only if it can end it; after the first one nothing is written.
 */
static la_ssize_t put(struct archive *archive, void *context, const void *bytes, size_t len)
{
	struct zip_writer *writer = context;

	(void)archive;
	errno = 0;
	if (!writer->error && fwrite(bytes, 1, len, writer->out) != len)
		writer->error = errno ? -errno : -EIO;
	return (la_ssize_t)len;
}

static void set_up(struct zip_writer *writer)
{
	struct archive *archive = writer->archive;

	/* Without blocks nothing is padded, and nothing waits for more. */
	if (archive_write_set_format_zip(archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(archive, 0) != ARCHIVE_OK ||
	    archive_write_open(archive, writer, NULL, put, NULL) != ARCHIVE_OK)
		note(writer);
}

int zip_writer__open(FILE *out, int64_t unix_seconds, struct zip_writer **ret_writer,
		     struct fail *fail)
{
	struct zip_writer *writer = calloc(1, sizeof(*writer));
	int err = -ENOMEM;

	if (writer) {
		*writer = (struct zip_writer){ .out = out,
					       .archive = archive_write_new(),
					       .time = (time_t)unix_seconds };
		if (writer->archive) {
			set_up(writer);
			err = writer->error;
		}
	}
	if (!err) {
		*ret_writer = writer;
		return 0;
	}
	zip_writer__close(writer);
	return fail__set(fail, err, "a zip archive cannot be begun: %s", strerror(-err));
}

/* Called by the C library with what was written to the entry's stream. */
static ssize_t put_entry(void *context, const char *bytes, size_t len)
{
	struct zip_writer *writer = context;
	size_t done = 0;

	while (done < len) {
		la_ssize_t step = archive_write_data(writer->archive, bytes + done, len - done);

		if (step <= 0)
			note(writer);
		if (writer->error) {
			errno = -writer->error;
			return 0;
		}
		done += (size_t)step;
	}
	return (ssize_t)len;
}

static void end_entry(struct zip_writer *writer)
{
	bool failed;

	if (!writer->entry)
		return;
	failed = ferror(writer->entry);
	if ((fclose(writer->entry) != 0 || failed) && !writer->error)
		writer->error = -EIO;
	writer->entry = NULL;
	if (!writer->error && archive_write_finish_entry(writer->archive) != ARCHIVE_OK)
		note(writer);
}

/* Its length is not known yet: it comes after the data. */
static void begin_entry(struct zip_writer *writer, const char *name)
{
	struct archive_entry *entry = archive_entry_new();

	if (!entry) {
		writer->error = -ENOMEM;
		return;
	}
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, writer->time, 0);
	if (archive_write_header(writer->archive, entry) != ARCHIVE_OK)
		note(writer);
	archive_entry_free(entry);
}

FILE *zip_writer__entry(struct zip_writer *writer, const char *name)
{
	static const cookie_io_functions_t functions = { .write = put_entry };

	end_entry(writer);
	if (!writer->error)
		begin_entry(writer, name);
	if (writer->error)
		return NULL;
	writer->entry = fopencookie(writer, "w", functions);
	if (!writer->entry)
		writer->error = -ENOMEM;
	return writer->entry;
}

int zip_writer__finish(struct zip_writer *writer, struct fail *fail)
{
	end_entry(writer);
	if (!writer->error && archive_write_close(writer->archive) != ARCHIVE_OK)
		note(writer);
	if (!writer->error)
		return 0;
	return fail__set(fail, writer->error, "the zip archive cannot be written: %s",
			 strerror(-writer->error));
}

void zip_writer__close(struct zip_writer *writer)
{
	if (!writer)
		return;
	/* An archive that was given up has no end. */
	if (!writer->error)
		writer->error = -ECANCELED;
	if (writer->entry)
		fclose(writer->entry);
	if (writer->archive)
		archive_write_free(writer->archive);
	free(writer);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/gunzip.h"
#include "reader/packed.h"

#define BLOCK_SIZE 65536

struct packed {
	struct archive *archive; /* a zip */
	struct gunzip *gunzip;	 /* or a gzip */
	const char *name;
	packed_read read;
	void *context;
	char block[BLOCK_SIZE];
};

enum packed_kind packed__kind(const char *head, size_t len)
{
	/* A local file header, or the end of a directory without entries. */
	if (len >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0))
		return PACKED_ZIP;
	if (len >= 2 && memcmp(head, "\x1f\x8b", 2) == 0)
		return PACKED_GZIP;
	return PACKED_NOT;
}

static la_ssize_t next_block(struct archive *archive, void *context, const void **ret_block)
{
	struct packed *packed = context;
	ssize_t got = packed->read(packed->context, packed->block, sizeof(packed->block));

	if (got < 0) {
		archive_set_error(archive, (int)-got, "%s", strerror((int)-got));
		return -1;
	}
	*ret_block = packed->block;
	return got;
}

static int damaged(const struct packed *packed, const char *why, struct fail *fail)
{
	return fail__set(
		fail, -EINVAL,
		"%s cannot be unpacked: %s; it is damaged or was cut off, so copy it again",
		packed->name, why ? why : "unknown error");
}

static bool ends_with(const char *text, const char *end)
{
	size_t text_len = strlen(text), end_len = strlen(end);

	return text_len >= end_len && strcmp(text + text_len - end_len, end) == 0;
}

static bool is_profile(const char *name)
{
	return name &&
	       (strcmp(name, "profile.json") == 0 || ends_with(name, "circuit_profile.json"));
}

static int find_entry(struct packed *packed, struct fail *fail)
{
	struct archive_entry *entry;
	int status;

	while ((status = archive_read_next_header(packed->archive, &entry)) == ARCHIVE_OK)
		if (is_profile(archive_entry_pathname(entry)))
			return 0;
	if (status != ARCHIVE_EOF)
		return damaged(packed, archive_error_string(packed->archive), fail);
	return fail__set(fail, -ENOENT,
			 "%s is a zip without a profile: it has neither profile.json nor a file "
			 "that ends in circuit_profile.json",
			 packed->name);
}

static int open_archive(struct packed *packed, int fd, struct fail *fail)
{
	struct archive *archive = archive_read_new();
	int status = ARCHIVE_FATAL;

	packed->archive = archive;
	if (!archive)
		return -ENOMEM;
	archive_read_support_format_zip(archive);
	if (fd < 0)
		status = archive_read_open(archive, packed, NULL, next_block, NULL);
	else if (lseek(fd, 0, SEEK_SET) == 0)
		status = archive_read_open_fd(archive, fd, BLOCK_SIZE);
	if (status != ARCHIVE_OK)
		return damaged(packed, archive_error_string(archive), fail);
	return find_entry(packed, fail);
}

int packed__open(enum packed_kind kind, packed_read read, void *context, int fd, const char *name,
		 struct packed **ret_packed, struct fail *fail)
{
	struct packed *packed = calloc(1, sizeof(*packed));
	int err;

	if (!packed)
		return -ENOMEM;
	packed->name = name;
	packed->read = read;
	packed->context = context;
	if (kind == PACKED_GZIP)
		err = gunzip__open(read, context, &packed->gunzip);
	else
		err = open_archive(packed, fd, fail);
	if (err) {
		packed__close(packed);
		return err;
	}
	*ret_packed = packed;
	return 0;
}

ssize_t packed__read(struct packed *packed, void *buffer, size_t len, struct fail *fail)
{
	ssize_t got;

	if (packed->gunzip) {
		got = gunzip__read(packed->gunzip, buffer, len);
		if (got == -EBADMSG)
			return damaged(packed, "the gzip is not as it was written", fail);
		return got < 0 ? fail__set(fail, (int)got, "cannot read %s: %s", packed->name,
					   strerror((int)-got))
			       : got;
	}
	got = archive_read_data(packed->archive, buffer, len);
	if (got < 0)
		return damaged(packed, archive_error_string(packed->archive), fail);
	return got;
}

void packed__close(struct packed *packed)
{
	if (!packed)
		return;
	if (packed->archive)
		archive_read_free(packed->archive);
	gunzip__close(packed->gunzip);
	free(packed);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/packed.h"

#define BLOCK_SIZE 65536

struct packed {
	struct archive *archive;
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

static int damaged(struct packed *packed, struct fail *fail)
{
	const char *why = archive_error_string(packed->archive);

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

static int find_entry(struct packed *packed, enum packed_kind kind, struct fail *fail)
{
	struct archive_entry *entry;
	int status;

	while ((status = archive_read_next_header(packed->archive, &entry)) == ARCHIVE_OK)
		if (kind == PACKED_GZIP || is_profile(archive_entry_pathname(entry)))
			return 0;
	if (status != ARCHIVE_EOF)
		return damaged(packed, fail);
	return fail__set(fail, -ENOENT,
			 "%s is a zip without a profile: it has neither profile.json nor a file "
			 "that ends in circuit_profile.json",
			 packed->name);
}

static int open_archive(struct packed *packed, enum packed_kind kind, int fd)
{
	struct archive *archive = packed->archive;

	if (kind == PACKED_ZIP) {
		archive_read_support_format_zip(archive);
	} else {
		archive_read_support_filter_gzip(archive);
		archive_read_support_format_raw(archive);
	}
	if (fd < 0)
		return archive_read_open(archive, packed, NULL, next_block, NULL);
	if (lseek(fd, 0, SEEK_SET) != 0)
		return ARCHIVE_FATAL;
	return archive_read_open_fd(archive, fd, BLOCK_SIZE);
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
	packed->archive = archive_read_new();
	if (!packed->archive)
		err = -ENOMEM;
	else if (open_archive(packed, kind, fd) != ARCHIVE_OK)
		err = damaged(packed, fail);
	else
		err = find_entry(packed, kind, fail);
	if (err) {
		packed__close(packed);
		return err;
	}
	*ret_packed = packed;
	return 0;
}

ssize_t packed__read(struct packed *packed, void *buffer, size_t len, struct fail *fail)
{
	la_ssize_t got = archive_read_data(packed->archive, buffer, len);

	return got < 0 ? damaged(packed, fail) : (ssize_t)got;
}

void packed__close(struct packed *packed)
{
	if (!packed)
		return;
	if (packed->archive)
		archive_read_free(packed->archive);
	free(packed);
}

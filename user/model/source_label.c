// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/source_label.h"
#include "util/utf8.h"

/* "dbsp-0.354.0", the crate's folder in cargo's registry; else it is in a checkout or vendored. */
static bool is_registry_folder(const char *name, size_t len)
{
	const char *end = name + len;
	unsigned int dots = 0;

	if (len < 6 || memcmp(name, "dbsp-", 5) != 0)
		return false;
	for (name += 5; name < end && (isdigit((unsigned char)*name) || *name == '.'); name++) {
		/* each dot of the version stands between two digits */
		if (*name == '.' && (!isdigit((unsigned char)name[-1]) || name + 1 == end ||
				     !isdigit((unsigned char)name[1])))
			return false;
		dots += *name == '.';
	}
	return dots == 2 && (name == end || *name == '-' || *name == '+');
}

/*
 * What the engine strips with trim_start_matches(env!("CARGO_MANIFEST_DIR")), of which the binary
 * keeps no copy: everything up to the crate's own folder. Cargo's manifest folder is absolute, so
 * the engine leaves relative paths alone.
 */
static const char *below_crate(const char *file)
{
	const char *rest = file;
	const char *part = file;
	const char *parent = NULL; /* the component before @part */

	if (*file != '/')
		return file;
	for (;;) {
		const char *end = strchr(part, '/');

		if (!end)
			return rest;
		if (is_registry_folder(part, (size_t)(end - part)) ||
		    (parent && (strncmp(parent, "crates/dbsp/", 12) == 0 ||
				strncmp(parent, "vendor/dbsp/", 12) == 0)))
			rest = end;
		parent = part;
		part = end + 1;
	}
}

/* The first letter of each folder, the full name of the file. */
static void write_file(FILE *out, const char *file)
{
	const char *part = below_crate(file);

	for (;;) {
		size_t len = strcspn(part, "/\\");
		uint32_t first;

		if (part[len] == '\0') {
			fwrite(part, 1, len, out);
			return;
		}
		if (len > 0) {
			fwrite(part, 1, utf8__next(part, len, &first), out);
			fputc('/', out);
		}
		part += len + 1;
	}
}

char *source_label(const char *name, const struct source_location *location, const char *suffix)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return NULL;
	fputs(name ? name : "", out);
	if (location->file) {
		fputs(" @ ", out);
		write_file(out, location->file);
		fprintf(out, ":%" PRIu32 ":%" PRIu32, location->line, location->column);
	}
	fputs(suffix, out);
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}

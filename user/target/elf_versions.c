// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The versions of the dbsp crate and of rustc that an executable carries.
 *
 * Panic messages name source files: ".../dbsp-0.354.0/src/circuit/runtime.rs" for a crate from a
 * registry, ".../crates/dbsp/src/circuit/runtime.rs" for one from a checkout.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem() */
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf_image.h"
#include "target/elf_internal.h"

#define CHUNK	     (1u << 20)
#define OVERLAP	     128u /* more than the longest string looked for */
#define VERSIONS_MAX 16
#define COMMENT_MAX  65536u

struct version_count {
	char version[32];
	unsigned int count;
};

struct scan {
	struct version_count versions[VERSIONS_MAX];
	size_t version_count;
	bool checkout; /* a path of a dbsp crate without version */
	uint64_t left; /* bytes to search; ranges of a damaged file may overlap any number of times
			*/
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of "1.22.333" with an optional "-rc.1" at @text, 0 when there is none. */
static size_t version_length(const char *text, size_t len)
{
	size_t at = 0, start;
	int part;

	for (part = 0; part < 3; part++) {
		if (part && (at >= len || text[at++] != '.'))
			return 0;
		start = at;
		while (at < len && is_digit(text[at]))
			at++;
		if (at == start || at - start > 6)
			return 0;
	}
	if (at < len && text[at] == '-') {
		at++;
		while (at < len && (is_digit(text[at]) || text[at] == '.' ||
				    ((text[at] | 32) >= 'a' && (text[at] | 32) <= 'z')))
			at++;
	}
	return at < sizeof(((struct version_count *)0)->version) ? at : 0;
}

static void count_version(struct scan *scan, const char *text, size_t len)
{
	struct version_count *version;
	size_t i;

	for (i = 0; i < scan->version_count; i++) {
		version = &scan->versions[i];
		if (strlen(version->version) == len && memcmp(version->version, text, len) == 0) {
			version->count++;
			return;
		}
	}
	if (scan->version_count == VERSIONS_MAX)
		return;
	version = &scan->versions[scan->version_count++];
	memcpy(version->version, text, len);
	version->version[len] = '\0';
	version->count = 1;
}

/* Looks at each "dbsp" that begins in the first @limit bytes of @text. */
static void scan_text(struct scan *scan, const char *text, size_t len, size_t limit)
{
	static const char source[] = "/src/", circuit[] = "/src/circuit/";
	const char *at = text, *end = text + len;

	while ((at = memmem(at, (size_t)(end - at), "dbsp", 4)) && at < text + limit) {
		const char *rest = at + 4;
		bool whole = at == text || (at[-1] != '-' && at[-1] != '_');
		size_t n;

		at = rest;
		if (!whole)
			continue;
		if ((size_t)(end - rest) >= strlen(circuit) &&
		    memcmp(rest, circuit, strlen(circuit)) == 0)
			scan->checkout = true;
		if (rest == end || *rest != '-')
			continue;
		n = version_length(rest + 1, (size_t)(end - rest - 1));
		if (n && (size_t)(end - rest - 1) >= n + strlen(source) &&
		    memcmp(rest + 1 + n, source, strlen(source)) == 0)
			count_version(scan, rest + 1, n);
	}
}

static int scan_range(const struct elf_image *image, const struct elf_range *range, char *buf,
		      struct scan *scan)
{
	uint64_t done = 0;

	while (done < range->size && scan->left) {
		uint64_t left = range->size - done;
		size_t want = left < CHUNK + OVERLAP ? left : CHUNK + OVERLAP;
		ssize_t n = elf_image__pread(image, buf, want, range->offset + done);

		if (n < 0)
			return (int)n;
		scan_text(scan, buf, (size_t)n, CHUNK);
		scan->left -= scan->left < (size_t)n ? scan->left : (size_t)n;
		if ((size_t)n < want)
			break;
		done += CHUNK;
	}
	return 0;
}

static bool found(const struct scan *scan)
{
	return scan->version_count || scan->checkout;
}

/* Read-only data first; a file without such sections is searched as a whole. */
static int scan_image(const struct elf_image *image, struct scan *scan)
{
	char *buf = malloc(CHUNK + OVERLAP);
	int err = 0;
	size_t i;

	if (!buf)
		return -ENOMEM;
	/* Each byte once as data and once as a segment, with what chunks have in common. */
	scan->left = 3 * image->size;
	for (i = 0; i < image->constant_count && !err; i++)
		err = scan_range(image, &image->constants[i], buf, scan);
	for (i = 0; i < image->load_count && !err && !found(scan); i++) {
		const struct elf_segment *load = &image->loads[i];
		struct elf_range range = { load->offset, load->file_size };

		if (!load->writable)
			err = scan_range(image, &range, buf, scan);
	}
	free(buf);
	return err;
}

static int find_rustc(struct elf_image *image)
{
	static const char prefix[] = "rustc version ";
	struct elf_range range = image->comment;
	const char *at;
	char *comment;
	size_t n;
	int err;

	if (range.size > COMMENT_MAX)
		range.size = COMMENT_MAX;
	err = elf_image__load(image, &range, &comment);
	if (err)
		return err;
	at = memmem(comment, range.size, prefix, strlen(prefix));
	if (at) {
		at += strlen(prefix);
		n = version_length(at, strlen(at));
		memcpy(image->rustc_version, at, n);
		image->rustc_version[n] = '\0';
	}
	free(comment);
	return 0;
}

int elf_image__find_versions(struct elf_image *image)
{
	const struct version_count *best = NULL;
	struct scan scan = { 0 };
	size_t i;
	int err;

	err = scan_image(image, &scan);
	if (!err)
		err = find_rustc(image);
	if (err)
		return err;
	for (i = 0; i < scan.version_count; i++) {
		if (!best || scan.versions[i].count > best->count)
			best = &scan.versions[i];
	}
	if (best)
		snprintf(image->dbsp_version, sizeof(image->dbsp_version), "%s", best->version);
	image->uses_dbsp = found(&scan);
	return 0;
}

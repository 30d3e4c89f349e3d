/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Renders the terminal summary, and checks what it says.
 */
#ifndef DBPROF_TESTS_CHECK_SUMMARY_H
#define DBPROF_TESTS_CHECK_SUMMARY_H

#include <stdlib.h>

#include "export/summary.h"
#include "util/text.h"
#include "check.h"

static inline char *render(const struct snapshot *snapshot, bool colours, int width)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(summary__write(out, snapshot, colours, width) == 0);
	fclose(out);
	return text;
}

static inline void check_part(const char *text, const char *part, bool wanted)
{
	if (!strstr(text, part) == wanted) {
		fprintf(stderr, "%s: %s\nin:\n%s\n", wanted ? "missing" : "too much", part, text);
		check_failures++;
	}
}

/* The summary at @width columns, in plain text, holds @wanted. */
static inline void check_rendered(const struct snapshot *snapshot, int width, const char *wanted)
{
	char *text = render(snapshot, false, width);

	check_part(text, wanted, true);
	free(text);
}

/* No line is wider, ends in blanks, or holds a control character. */
static inline void check_shape(const char *text, size_t width)
{
	while (*text) {
		char line[1024];
		size_t len = strcspn(text, "\n");

		CHECK(len < sizeof(line));
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (!CHECK(text__columns(line) <= width) ||
		    !CHECK(len == 0 || line[len - 1] != ' '))
			fprintf(stderr, "  %s\n", line);
		for (size_t i = 0; i < len; i++)
			CHECK((unsigned char)line[i] >= 0x20);
		text += len + (text[len] == '\n');
	}
}

#endif

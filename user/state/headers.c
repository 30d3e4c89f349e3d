// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/headers.h"

#define LINE_MAX_LEN 16384 /* tokens take some thousand */

/* RFC 9110: a name of token characters, a colon, a value without control characters. */
static bool is_header(const char *text)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t name = strspn(text, token);

	if (name == 0 || text[name] != ':' || strlen(text) > LINE_MAX_LEN)
		return false;
	for (const char *c = text + name + 1; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return false;
	/* curl would take "Name:" for a header to leave out. */
	return text[name + 1 + strspn(text + name + 1, " \t")] != '\0';
}

static int add(struct headers *headers, const char *text, struct fail *fail)
{
	char *line;

	if (!is_header(text))
		return fail__set(fail, -EINVAL,
				 "--state-header takes 'Name: value', or @FILE with "
				 "lines of that kind");
	if (headers->count == HEADERS_MAX)
		return fail__set(fail, -EINVAL, "--state-header takes at most %d headers",
				 HEADERS_MAX);
	line = strdup(text);
	if (!line)
		return -ENOMEM;
	headers->lines[headers->count++] = line;
	return 0;
}

static int add_file(struct headers *headers, const char *path, struct fail *fail)
{
	char line[LINE_MAX_LEN + 2];
	FILE *file = fopen(path, "re");
	int err = 0;

	if (!file)
		return fail__set(fail, -errno, "cannot read the headers in %s: %s", path,
				 strerror(errno));
	while (!err && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0])
			err = add(headers, line, fail);
	}
	if (!err && ferror(file))
		err = fail__set(fail, -EIO, "cannot read the headers in %s", path);
	explicit_bzero(line, sizeof(line));
	fclose(file);
	return err;
}

int headers__add(struct headers *headers, const char *text, struct fail *fail)
{
	return text[0] == '@' ? add_file(headers, text + 1, fail) : add(headers, text, fail);
}

void headers__clear(struct headers *headers)
{
	for (size_t i = 0; i < headers->count; i++) {
		explicit_bzero(headers->lines[i], strlen(headers->lines[i]));
		free(headers->lines[i]);
	}
	headers->count = 0;
}

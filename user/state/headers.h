/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_STATE_HEADERS_H
#define DBPROF_STATE_HEADERS_H

#include <stddef.h>

#include "util/fail.h"

#define HEADERS_MAX 16

/* Lines "Name: value" of a request. What they say is a secret: no sentence holds any of it. */
struct headers {
	char *lines[HEADERS_MAX];
	size_t count;
};

/*
 * Adds the header @text, or with "@FILE" those of the file's lines, empty ones left out. Returns 0,
 * -EINVAL for what is no header, or another negative errno, each with a sentence.
 */
int headers__add(struct headers *headers, const char *text, struct fail *fail);
/* Overwrites them, too. */
void headers__clear(struct headers *headers);

#endif

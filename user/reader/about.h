/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What our own profiles say of themselves, in the members "dbprof" and "hosts".
 */
#ifndef DBPROF_READER_ABOUT_H
#define DBPROF_READER_ABOUT_H

#include "reader/parser.h"

struct about {
	char dbsp_version[64]; /* empty when it is not known */
	int64_t start_unix_ns;
	uint64_t elapsed_ns;
	pid_t pid;
	size_t first_worker;
};

/*
 * Read the value whose first token was taken, to its end. What is not as we write it is passed
 * over: the member could be another program's.
 */
int about__dbprof(struct parser *parser, struct about *about);
/* The first worker's number of a merged profile. */
int about__hosts(struct parser *parser, struct about *about);

#endif

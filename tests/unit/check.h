/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that count failures instead of ending the test.
 */
#ifndef DBPROF_TESTS_CHECK_H
#define DBPROF_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_failures;

__attribute__((unused)) static bool check_that(bool holds, const char *what, const char *file,
					       int line)
{
	if (!holds) {
		fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
		check_failures++;
	}
	return holds;
}

__attribute__((unused)) static void check_text(const char *got, const char *wanted,
					       const char *file, int line)
{
	if (!got || strcmp(got, wanted) != 0) {
		fprintf(stderr, "%s:%d: got    %s\n%s:%d: wanted %s\n", file, line,
			got ? got : "(null)", file, line, wanted);
		check_failures++;
	}
}

#define CHECK(condition)	check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_TEXT(got, wanted) check_text((got), (wanted), __FILE__, __LINE__)
#define CHECK_RESULT()		(check_failures ? 1 : 0)

#endif

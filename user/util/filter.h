/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another program as a filter: text in, a stream out.
 */
#ifndef DBPROF_UTIL_FILTER_H
#define DBPROF_UTIL_FILTER_H

#include <stdint.h>
#include <stdio.h>

#define FILTER_MESSAGE_MAX 200

/*
 * Runs @argv, found on the PATH, without a shell; gives it the @size bytes at @input and copies
 * what it writes to @out. @message gets the beginning of its standard error, in one line.
 *
 * Returns 0, -ENOENT when there is no such program, -ETIMEDOUT when it was not done after
 * @timeout_ns and had to be killed, -ECHILD when it failed, or another negative errno.
 */
int filter__run(const char *const argv[], const char *input, size_t size, FILE *out,
		uint64_t timeout_ns, char message[FILTER_MESSAGE_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why something failed, in one sentence for a person.
 *
 * Modules return a negative errno and describe the failure here; only the command line prints.
 */
#ifndef DBPROF_UTIL_FAIL_H
#define DBPROF_UTIL_FAIL_H

struct fail {
	char text[512]; /* no newline, no trailing full stop; empty when nothing failed */
};

/*
 * Describes a failure; the first description stays when @fail already has one, since it is the
 * closest to the cause. @fail may be NULL. Returns @err, so that callers can return the call.
 */
int fail__set(struct fail *fail, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Forgets the description, for a caller that goes on with something else. */
void fail__clear(struct fail *fail);

#endif

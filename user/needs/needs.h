/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What profiling needs of this machine and of one program, and what of that there is.
 *
 * Nothing is attached to the program, and nothing fails for want of privileges: what cannot be
 * looked at is said to be so.
 */
#ifndef DBPROF_NEEDS_NEEDS_H
#define DBPROF_NEEDS_NEEDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum need_verdict {
	NEED_OK,
	NEED_UNCHECKED, /* could not be looked at; detail says why */
	NEED_DEGRADED,	/* profiling works, without what is lost */
	NEED_MISSING,	/* profiling does not work */
	NEED_VERDICTS,
};

enum need_group {
	NEED_KERNEL,
	NEED_PRIVILEGES,
	NEED_TRIAL,   /* the kernel side, really loaded */
	NEED_PROGRAM, /* the one that is to be profiled */
	NEED_GROUPS,
};

#define NEED_TEXT_MAX 512

struct need {
	enum need_group group;
	const char *name; /* stable: scripts may look for it */
	enum need_verdict verdict;
	char detail[NEED_TEXT_MAX]; /* what was found */
	const char *lost;	    /* what does not work without it; NULL for nothing */
	const char *remedy;	    /* what to do; NULL for nothing */
};

struct need_list {
	struct need *list;
	size_t count;
	const char *mode; /* what `--mode auto` would take; NULL when that is not known */
};

/* "ok", "not checked", "degraded", "missing". */
const char *need_verdict__name(enum need_verdict verdict);
const char *need_group__name(enum need_group group);

/*
 * Adds what was found of a need. @lost and @remedy are for verdicts other than NEED_OK and live
 * forever. Returns 0 or -ENOMEM.
 */
int needs__add(struct need_list *needs, enum need_group group, const char *name,
	       enum need_verdict verdict, const char *lost, const char *remedy, const char *format,
	       ...) __attribute__((format(printf, 7, 8)));
void needs__free(struct need_list *needs);

/* NEED_OK, NEED_DEGRADED or NEED_MISSING; what could not be checked does not count. */
enum need_verdict needs__verdict(const struct need_list *needs);
/* The need of that name, NULL when there is none. */
const struct need *needs__find(const struct need_list *needs, const char *name);

/* Version, configuration, BTF, BPF, lockdown. Returns 0 or -ENOMEM, as all that follow. */
int needs__check_kernel(struct need_list *needs);
/* What /proc/config.gz or a file in /boot says. */
int needs__check_options(struct need_list *needs);

/* Capabilities, sysctls and filters. @pid is the program that they are for, 0 for none. */
int needs__check_privileges(struct need_list *needs, pid_t pid);

/* Loads the programs, puts a probe into this very process, starts the sampler, and ends all that.
 */
int needs__check_trial(struct need_list *needs);

/* The program @pid. @layout_file as in observer__open(). */
int needs__check_program(struct need_list *needs, pid_t pid, const char *layout_file);

#endif

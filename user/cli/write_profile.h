/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writing a profile, in any format, for the commands. */
#ifndef DBPROF_CLI_WRITE_PROFILE_H
#define DBPROF_CLI_WRITE_PROFILE_H

#include <argp.h>

#include "export/export.h"

#define WRITE_NAME_MAX 4096

/*
 * Writes the profile to @path, a file or, for a format that is one, a folder: all of it, or nothing
 * and what was there stays. "-" is the standard output. Returns 0, or a negative errno with its
 * sentence in @fail.
 */
int write_profile(struct profile_source *source, const struct exporter *exporter, const char *path,
		  struct fail *fail);

/*
 * @input's name with the format's extension instead of its own: "a/slow.json.gz" and html give
 * "a/slow.html". Returns 0 or -ENAMETOOLONG.
 */
int write_profile__name(const char *input, const struct exporter *exporter,
			char name[WRITE_NAME_MAX]);

/* The format of that name; a usage error, which lists all, when there is none. */
const struct exporter *write_profile__format(struct argp_state *state, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_STATE_URL_H
#define DBPROF_STATE_URL_H

#include <stdbool.h>

#include "util/fail.h"

/* Whether @text is an URL of http or https and not a file's name. */
bool url__is_http(const char *text);
/* Whether it is an URL of something else. */
bool url__is_other(const char *text);

/*
 * Checks @text. *ret_url is what to ask for: "/dump_json_profile", where Feldera's pipelines answer
 * with their profile, when it has no path. *ret_shown is for people: without user, password, query
 * and fragment, any of which may be a secret. Free both. Returns 0, -ENOMEM or -EINVAL.
 */
int url__parse(const char *text, char **ret_url, char **ret_shown, struct fail *fail);

#endif

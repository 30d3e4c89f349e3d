/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds types in debug info by patterns of their names, all in one pass.
 */
#ifndef DBPROF_LAYOUT_TYPE_FINDER_H
#define DBPROF_LAYOUT_TYPE_FINDER_H

#include <stdbool.h>
#include <stddef.h>

#include <elfutils/libdw.h>

struct type_pattern {
	const char *text; /* "*" stands for any text */
	size_t literal;	  /* length of the text before the first "*" */
	bool wild;	  /* there is one */
};

void type_pattern__set(struct type_pattern *pattern, const char *text);
bool type_pattern__matches(const struct type_pattern *pattern, const char *name);

/*
 * Calls @found for each type of @dwarf with a size and each pattern that it matches. Returns 0,
 * -ENOMEM, -EBADMSG when the debug info cannot be read to its end.
 */
int type_finder__run(Dwarf *dwarf, const struct type_pattern *patterns, size_t count,
		     void (*found)(Dwarf_Die *type, size_t pattern, void *arg), void *arg);

#endif

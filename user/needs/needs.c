// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "needs/needs.h"

const char *need_verdict__name(enum need_verdict verdict)
{
	static const char *const names[NEED_VERDICTS] = {
		[NEED_OK] = "ok",
		[NEED_UNCHECKED] = "not checked",
		[NEED_DEGRADED] = "degraded",
		[NEED_MISSING] = "missing",
	};

	return names[verdict];
}

const char *need_group__name(enum need_group group)
{
	static const char *const names[NEED_GROUPS] = {
		[NEED_KERNEL] = "kernel",
		[NEED_PRIVILEGES] = "privileges",
		[NEED_TRIAL] = "trial",
		[NEED_PROGRAM] = "program",
	};

	return names[group];
}

int needs__add(struct need_list *needs, enum need_group group, const char *name,
	       enum need_verdict verdict, const char *lost, const char *remedy, const char *format,
	       ...)
{
	struct need *longer = realloc(needs->list, (needs->count + 1) * sizeof(*longer));
	struct need *need;
	va_list args;

	if (!longer)
		return -ENOMEM;
	needs->list = longer;
	need = &longer[needs->count++];
	*need = (struct need){ .group = group, .name = name, .verdict = verdict };
	if (verdict != NEED_OK) {
		need->lost = lost;
		need->remedy = remedy;
	}
	va_start(args, format);
	vsnprintf(need->detail, sizeof(need->detail), format, args);
	va_end(args);
	return 0;
}

void needs__free(struct need_list *needs)
{
	free(needs->list);
	*needs = (struct need_list){ 0 };
}

enum need_verdict needs__verdict(const struct need_list *needs)
{
	enum need_verdict worst = NEED_OK;

	for (size_t i = 0; i < needs->count; i++)
		if (needs->list[i].verdict > worst)
			worst = needs->list[i].verdict;
	return worst == NEED_UNCHECKED ? NEED_OK : worst;
}

const struct need *needs__find(const struct need_list *needs, const char *name)
{
	for (size_t i = 0; i < needs->count; i++)
		if (!strcmp(needs->list[i].name, name))
			return &needs->list[i];
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

#define DURATION_MAX_NS 31536000e9 /* a year */

int duration__parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "", 1e9 },   { "s", 1e9 },  { "ms", 1e6 },
		{ "us", 1e3 }, { "m", 60e9 }, { "h", 3600e9 },
	};
	char *unit;
	double number;

	/* strtod() also takes spaces, signs, hexadecimal, "inf" and "nan". */
	if (strspn(text, "0123456789.") == 0 || text[0] == '.')
		return -EINVAL;
	errno = 0;
	number = strtod(text, &unit);
	if (errno || unit == text || (size_t)(unit - text) != strspn(text, "0123456789."))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double ns = number * units[i].ns;

		if (strcmp(unit, units[i].name))
			continue;
		if (!isfinite(ns) || ns < 1 || ns > DURATION_MAX_NS)
			return -ERANGE;
		*ret_ns = (uint64_t)ns;
		return 0;
	}
	return -EINVAL;
}

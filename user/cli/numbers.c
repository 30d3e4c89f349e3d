// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/numbers.h"
#include "cli/options.h"

uint32_t numbers__count(struct argp_state *state, const char *option, const char *text,
			unsigned long min, unsigned long max)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number < min || number > max)
		argp_error(state, "--%s takes a number from %lu to %lu, not '%s'", option, min, max,
			   text);
	return (uint32_t)number;
}

uint64_t numbers__time(struct argp_state *state, const char *option, const char *text,
		       uint64_t min_ns)
{
	uint64_t ns = 0;

	if (duration__parse(text, &ns))
		argp_error(state, "--%s takes a time such as 10s, 500ms or 2m, not '%s'", option,
			   text);
	else if (ns < min_ns)
		argp_error(state, "--%s takes at least %llu ms, not '%s'", option,
			   (unsigned long long)min_ns / 1000000, text);
	return ns;
}

double numbers__budget(struct argp_state *state, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (*end == '%')
		end++;
	if (text[0] < '0' || text[0] > '9' || *end || !(percent >= 0.01 && percent <= 100))
		argp_error(state, "--budget takes per cent from 0.01 to 100, not '%s'", text);
	return percent / 100;
}

uint64_t numbers__bytes(struct argp_state *state, const char *option, const char *text,
			uint64_t min)
{
	static const char units[] = "KMGT";
	unsigned long long number;
	const char *unit;
	char *end;
	uint64_t bytes = 0;
	bool wrong;

	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	wrong = text[0] < '0' || text[0] > '9' || errno || (*end && (!unit || end[1])) ||
		__builtin_mul_overflow(number, unit ? 1ULL << (10 * (unit - units + 1)) : 1,
				       &bytes);
	if (wrong || bytes < min)
		argp_error(state, "--%s takes a size such as 500M or 10G, at least 1M, not '%s'",
			   option, text);
	return bytes;
}

size_t numbers__choice(struct argp_state *state, const char *option, const char *text,
		       const char *const *names, size_t count)
{
	char all[128] = "";

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, names[i]))
			return i;
		if (i)
			strncat(all, i + 1 == count ? " or " : ", ", sizeof(all) - strlen(all) - 1);
		strncat(all, names[i], sizeof(all) - strlen(all) - 1);
	}
	argp_error(state, "--%s takes %s, not '%s'", option, all, text);
	return 0;
}

enum observer_mode numbers__mode(struct argp_state *state, const char *text)
{
	static const char *const names[] = { "auto", "engine", "sampled", "exact", "waits" };

	return (enum observer_mode)numbers__choice(state, "mode", text, names, 5);
}

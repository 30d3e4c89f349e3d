// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/instant.h"

#define NANOS_PER_SECOND 1000000000

const char *instant__format(int64_t unix_nanos, char text[INSTANT_TEXT_MAX])
{
	int64_t part = unix_nanos % NANOS_PER_SECOND;
	time_t seconds = unix_nanos / NANOS_PER_SECOND;
	char date[40];
	struct tm tm;

	if (part < 0) {
		part += NANOS_PER_SECOND;
		seconds--;
	}
	if (!gmtime_r(&seconds, &tm) || strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return NULL;
	snprintf(text, INSTANT_TEXT_MAX, "%s.%09" PRId64 "Z", date, part);
	return text;
}

int64_t instant__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NANOS_PER_SECOND + now.tv_nsec;
}

/* Takes @count digits. Returns what comes behind them, NULL when they are not there. */
static const char *take_digits(const char *text, int count, int *ret_number)
{
	*ret_number = 0;
	for (; count > 0; count--, text++) {
		if (*text < '0' || *text > '9')
			return NULL;
		*ret_number = *ret_number * 10 + *text - '0';
	}
	return text;
}

/* Takes numbers of @widths, with the character of @between after each but the last one. */
static const char *take_numbers(const char *text, const char *widths, const char *between,
				int *const numbers[])
{
	for (size_t i = 0; widths[i] && text; i++) {
		text = take_digits(text, widths[i] - '0', numbers[i]);
		if (text && widths[i + 1] && *text++ != between[i])
			return NULL;
	}
	return text;
}

/* ".5" and the like; nothing is 0. */
static const char *take_fraction(const char *text, int64_t *ret_nanos)
{
	int64_t digit = NANOS_PER_SECOND / 10;

	*ret_nanos = 0;
	if (*text != '.')
		return text;
	if (*++text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++, digit /= 10)
		*ret_nanos += (*text - '0') * digit;
	return text;
}

/* "Z", "+01:00", "-0130" or nothing, which is local time. */
static const char *take_zone(const char *text, struct tm *tm, time_t *ret_seconds)
{
	int hours, minutes, sign = *text == '-' ? -1 : 1;
	struct tm copy = *tm;

	tm->tm_isdst = -1;
	*ret_seconds = *text ? timegm(tm) : mktime(tm);
	/* The 31st of February became another day. */
	if (tm->tm_mday != copy.tm_mday || tm->tm_mon != copy.tm_mon)
		return NULL;
	if (*text == 'Z')
		return text + 1;
	if (!*text)
		return text;
	if (*text != '+' && *text != '-')
		return NULL;
	text = take_digits(text + 1, 2, &hours);
	if (text && *text == ':')
		text++;
	text = text ? take_digits(text, 2, &minutes) : NULL;
	if (text)
		*ret_seconds -= sign * (hours * 3600 + minutes * 60);
	return text;
}

static int parse_date(const char *text, int64_t *ret_unix_nanos)
{
	struct tm tm = { 0 };
	int *const numbers[] = { &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min };
	int64_t nanos = 0, whole;
	time_t seconds;

	text = take_numbers(text, "42222", strchr(text, ' ') ? "-- :" : "--T:", numbers);
	if (text && *text == ':') {
		text = take_digits(text + 1, 2, &tm.tm_sec);
		text = text ? take_fraction(text, &nanos) : NULL;
	}
	if (!text || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60)
		return -EINVAL;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	text = take_zone(text, &tm, &seconds);
	if (!text || *text || __builtin_mul_overflow((int64_t)seconds, NANOS_PER_SECOND, &whole))
		return -EINVAL;
	return __builtin_add_overflow(whole, nanos, ret_unix_nanos) ? -EINVAL : 0;
}

int instant__parse(const char *text, int64_t *ret_unix_nanos)
{
	int64_t seconds = 0;

	if (!strcmp(text, "now")) {
		*ret_unix_nanos = instant__now();
		return 0;
	}
	if (text[0] != '@')
		return parse_date(text, ret_unix_nanos);
	if (!text[1] || strlen(text) > 12 || strspn(text + 1, "0123456789") != strlen(text + 1))
		return -EINVAL;
	while (*++text)
		seconds = seconds * 10 + *text - '0';
	return __builtin_mul_overflow(seconds, NANOS_PER_SECOND, ret_unix_nanos) ? -EINVAL : 0;
}

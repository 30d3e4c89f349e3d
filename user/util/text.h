/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers with their units and text that is safe on a terminal, for people.
 */
#ifndef DBPROF_UTIL_TEXT_H
#define DBPROF_UTIL_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define TEXT_NUMBER_MAX 40 /* enough for every number below, with its NUL */

/* Three significant digits and the unit that fits: "850 ns", "12.3 ms", "5 min 12 s". */
void text__duration(uint64_t nanos, char text[TEXT_NUMBER_MAX]);
/* "41 %", "<1 %" for a little more than nothing; "-" when @whole is 0. May exceed 100 %. */
void text__percent(uint64_t part, uint64_t whole, char text[TEXT_NUMBER_MAX]);
/* Events per second: "7.53/s"; "-" when @nanos is 0. */
void text__rate(uint64_t events, uint64_t nanos, char text[TEXT_NUMBER_MAX]);

/*
 * Copies @from without what would confuse a terminal: control characters become '?', bytes that
 * are not UTF-8 U+FFFD. Cut at @size, between characters. NULL is copied as "?".
 */
void text__printable(const char *from, char *text, size_t size);
/* Columns that @text takes: one for each character. */
size_t text__columns(const char *text);

#endif

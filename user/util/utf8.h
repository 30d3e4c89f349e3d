/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading text that claims to be UTF-8 without trusting it.
 */
#ifndef DBPROF_UTIL_UTF8_H
#define DBPROF_UTIL_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/*
 * U+0000 in a string of C, which a plain NUL would end. JSON and Rust allow it; UTF-8 has no such
 * two bytes, so nothing else is taken for it.
 */
#define UTF8_NUL "\xc0\x80"

/*
 * Takes the first character of the @len bytes at @text. Returns how many bytes it occupies, 0 only
 * when @len is 0. *@ret_char is its code point, or UTF8_INVALID when those bytes are not UTF-8
 * (then one replacement character stands for all of them, as in Rust's from_utf8_lossy).
 */
size_t utf8__next(const char *text, size_t len, uint32_t *ret_char);

/* strcmp() in the order of Rust's strings, in which UTF8_NUL comes before all other characters. */
int utf8__compare(const char *a, const char *b);

#endif

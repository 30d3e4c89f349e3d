// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "util/utf8.h"

/* Length by the first byte and the range of the second (Unicode 15, table 3-7). */
static size_t lead(uint8_t byte, uint8_t *ret_low, uint8_t *ret_high)
{
	*ret_low = 0x80;
	*ret_high = 0xbf;
	if (byte >= 0xc2 && byte <= 0xdf)
		return 2;
	if (byte >= 0xe0 && byte <= 0xef) {
		if (byte == 0xe0)
			*ret_low = 0xa0; /* no overlong forms */
		if (byte == 0xed)
			*ret_high = 0x9f; /* no surrogates */
		return 3;
	}
	if (byte >= 0xf0 && byte <= 0xf4) {
		if (byte == 0xf0)
			*ret_low = 0x90;
		if (byte == 0xf4)
			*ret_high = 0x8f; /* nothing above U+10FFFF */
		return 4;
	}
	return 0;
}

size_t utf8__next(const char *text, size_t len, uint32_t *ret_char)
{
	const uint8_t *bytes = (const uint8_t *)text;
	uint8_t low, high;
	uint32_t value;
	size_t need;

	*ret_char = UTF8_INVALID;
	if (len == 0)
		return 0;
	if (bytes[0] < 0x80) {
		*ret_char = bytes[0];
		return 1;
	}
	if (len >= 2 && memcmp(text, UTF8_NUL, 2) == 0) {
		*ret_char = 0;
		return 2;
	}
	need = lead(bytes[0], &low, &high);
	if (need == 0)
		return 1;
	value = bytes[0] & (0xffu >> (need + 1));
	for (size_t i = 1; i < need; i++) {
		if (i >= len || bytes[i] < low || bytes[i] > high)
			return i;
		value = value << 6 | (bytes[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	*ret_char = value;
	return need;
}

/* The end of a string comes first, then U+0000, then all others as they are. */
static int rank(uint8_t byte)
{
	if (byte == '\0')
		return 0;
	return byte == 0xc0 ? 1 : byte + 1;
}

int utf8__compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return rank((uint8_t)*a) - rank((uint8_t)*b);
}

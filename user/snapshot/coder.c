// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/coder.h"
#include "util/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define NO_TEXT	    UINT32_MAX	   /* instead of a length: NULL */

void coder__begin_write(struct coder *coder)
{
	*coder = (struct coder){ .writing = true };
}

void coder__clear(struct coder *coder)
{
	if (coder->writing)
		free(coder->bytes);
	*coder = (struct coder){ .writing = coder->writing };
}

void coder__begin_read(struct coder *coder, const uint8_t *bytes, size_t len, struct fail *fail)
{
	/* Nothing writes to it while it is read. */
	*coder = (struct coder){ .fail = fail, .bytes = (uint8_t *)bytes, .len = len };
}

int coder__refuse(struct coder *coder, const char *format, ...)
{
	char text[256];
	va_list args;

	if (coder->err)
		return coder->err;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	coder->err = fail__set(coder->fail, -EBADMSG, "the snapshot is damaged: %s", text);
	return coder->err;
}

static uint8_t *grow(struct coder *coder, size_t len)
{
	size_t capacity = coder->capacity ? coder->capacity : 4096;
	uint8_t *bytes;

	while (capacity - coder->len < len)
		capacity *= 2;
	if (capacity != coder->capacity) {
		bytes = realloc(coder->bytes, capacity);
		if (!bytes) {
			coder->err = -ENOMEM;
			return NULL;
		}
		coder->bytes = bytes;
		coder->capacity = capacity;
	}
	coder->len += len;
	return coder->bytes + coder->len - len;
}

void coder__raw(struct coder *coder, void *bytes, size_t len)
{
	uint8_t *room;

	if (!coder->writing && !coder->err && coder->len - coder->at < len)
		coder__refuse(coder, "it ends too early");
	if (coder->err) {
		if (!coder->writing)
			memset(bytes, 0, len);
		return;
	}
	if (!coder->writing) {
		memcpy(bytes, coder->bytes + coder->at, len);
		coder->at += len;
		return;
	}
	room = grow(coder, len);
	if (room)
		memcpy(room, bytes, len);
}

/* The lowest byte first. */
static uint64_t number(struct coder *coder, uint64_t value, size_t len)
{
	uint8_t bytes[8] = { 0 };
	uint64_t read = 0;

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	coder__raw(coder, bytes, len);
	for (size_t i = 0; i < len; i++)
		read |= (uint64_t)bytes[i] << (8 * i);
	return read;
}

void coder__u8(struct coder *coder, uint8_t *value, uint8_t limit, const char *what)
{
	uint8_t read = (uint8_t)number(coder, *value, 1);

	if (!coder->writing && read >= limit) {
		coder__refuse(coder, "%s %u does not exist", what, read);
		read = 0;
	}
	*value = read;
}

void coder__u32(struct coder *coder, uint32_t *value)
{
	*value = (uint32_t)number(coder, *value, 4);
}

void coder__u64(struct coder *coder, uint64_t *value)
{
	*value = number(coder, *value, 8);
}

void coder__words(struct coder *coder, uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		coder__u64(coder, &values[i]);
}

void coder__i32(struct coder *coder, int32_t *value)
{
	*value = (int32_t)(uint32_t)number(coder, (uint32_t)*value, 4);
}

void coder__i64(struct coder *coder, int64_t *value)
{
	*value = (int64_t)number(coder, (uint64_t)*value, 8);
}

void coder__bool(struct coder *coder, bool *value)
{
	uint8_t byte = *value;

	coder__u8(coder, &byte, 2, "truth value");
	*value = byte;
}

void coder__double(struct coder *coder, double *value)
{
	uint64_t bits;

	_Static_assert(sizeof(bits) == sizeof(*value), "IEEE 754");
	memcpy(&bits, value, sizeof(bits));
	coder__u64(coder, &bits);
	memcpy(value, &bits, sizeof(bits));
	if (!coder->writing && isnan(*value)) {
		coder__refuse(coder, "a number is none");
		*value = 0;
	}
}

void coder__index(struct coder *coder, size_t *value, size_t limit, const char *what)
{
	uint64_t read = number(coder, *value, 8);

	if (!coder->writing && !coder->err && read >= limit) {
		coder__refuse(coder, "there is no %s %llu", what, (unsigned long long)read);
		read = 0;
	}
	*value = (size_t)read;
}

/* @text with U+FFFD for what is not UTF-8, cut at @max bytes. Returns its length. */
static size_t clean(const char *text, char *ret_clean, size_t max)
{
	size_t len = strlen(text), used = 0, taken;
	uint32_t character;

	for (size_t at = 0; at < len; at += taken) {
		const char *from = text + at;
		size_t size;

		taken = size = utf8__next(from, len - at, &character);
		if (character == UTF8_INVALID) {
			from = REPLACEMENT;
			size = sizeof(REPLACEMENT) - 1;
		}
		if (size > max - used)
			break;
		memcpy(ret_clean + used, from, size);
		used += size;
	}
	return used;
}

static void write_text(struct coder *coder, const char *text, size_t max)
{
	uint32_t len = NO_TEXT;
	size_t most;
	char *cleaned;

	if (!text) {
		coder__u32(coder, &len);
		return;
	}
	most = strlen(text) * (sizeof(REPLACEMENT) - 1);
	max = most < max ? most : max;
	cleaned = malloc(max + 1);
	if (!cleaned) {
		coder->err = -ENOMEM;
		return;
	}
	len = (uint32_t)clean(text, cleaned, max);
	coder__u32(coder, &len);
	coder__raw(coder, cleaned, len);
	free(cleaned);
}

static bool is_text(const char *text, size_t len)
{
	uint32_t character;

	for (size_t at = 0; at < len;) {
		at += utf8__next(text + at, len - at, &character);
		if (character == UTF8_INVALID || !character)
			return false;
	}
	return true;
}

/* The length of a text of at most @max bytes that lies ahead, or NO_TEXT. */
static uint32_t read_length(struct coder *coder, size_t max)
{
	uint32_t len = 0;

	coder__u32(coder, &len);
	if (coder->err || len == NO_TEXT)
		return NO_TEXT;
	if (len > max || len > coder->len - coder->at)
		coder__refuse(coder, "a text of %u bytes is too long", len);
	else if (!is_text((const char *)coder->bytes + coder->at, len))
		coder__refuse(coder, "a text is not UTF-8");
	return coder->err ? NO_TEXT : len;
}

void coder__text(struct coder *coder, char **text)
{
	uint32_t len;

	if (coder->writing) {
		write_text(coder, *text, CODER_TEXT_MAX);
		return;
	}
	*text = NULL;
	len = read_length(coder, CODER_TEXT_MAX);
	if (len == NO_TEXT)
		return;
	*text = calloc(1, (size_t)len + 1);
	if (*text)
		coder__raw(coder, *text, len);
	else
		coder->err = -ENOMEM;
}

void coder__text_in(struct coder *coder, char *text, size_t size)
{
	uint32_t len;

	if (coder->writing) {
		write_text(coder, text, size - 1);
		return;
	}
	memset(text, 0, size);
	len = read_length(coder, size - 1);
	if (len != NO_TEXT)
		coder__raw(coder, text, len);
	else if (!coder->err)
		coder__refuse(coder, "a text is missing");
}

void coder__array(struct coder *coder, void **array, size_t *count, size_t size, size_t least)
{
	uint64_t read = number(coder, *count, 8);

	if (coder->writing)
		return;
	*array = NULL;
	*count = 0;
	if (!coder->err && read > (coder->len - coder->at) / least)
		coder__refuse(coder, "a list of %llu elements is too long",
			      (unsigned long long)read);
	if (coder->err)
		return;
	*array = calloc((size_t)read + 1, size);
	if (*array)
		*count = (size_t)read;
	else
		coder->err = -ENOMEM;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "export/pprof_strings.h"

#define CAPACITY_FIRST 256

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *text, size_t len)
{
	uint64_t value = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		value = (value ^ (uint8_t)text[i]) * 0x100000001b3u;
	return value;
}

/* The slot that holds the text or the empty one where it belongs; there is always an empty one. */
static struct pprof_string *slot_of(struct pprof_string *slots, size_t capacity, const char *text,
				    size_t len)
{
	size_t i = hash(text, len) & (capacity - 1);

	while (slots[i].text && (strncmp(slots[i].text, text, len) != 0 || slots[i].text[len]))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool grow(struct pprof_strings *strings)
{
	size_t capacity = strings->capacity ? strings->capacity * 2 : CAPACITY_FIRST;
	struct pprof_string *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < strings->capacity; i++) {
		const char *text = strings->slots[i].text;

		if (text)
			*slot_of(slots, capacity, text, strlen(text)) = strings->slots[i];
	}
	free(strings->slots);
	strings->slots = slots;
	strings->capacity = capacity;
	return true;
}

const struct pprof_string *pprof_strings__add(struct pprof_strings *strings, const char *text,
					      size_t len, bool *ret_new)
{
	struct pprof_string *slot;

	if ((size_t)strings->count >= strings->capacity / 2 && !grow(strings))
		return NULL;
	slot = slot_of(strings->slots, strings->capacity, text, len);
	*ret_new = !slot->text;
	if (slot->text)
		return slot;
	slot->text = strndup(text, len);
	if (!slot->text)
		return NULL;
	slot->place = strings->count++;
	return slot;
}

void pprof_strings__clear(struct pprof_strings *strings)
{
	for (size_t i = 0; i < strings->capacity; i++)
		free(strings->slots[i].text);
	free(strings->slots);
	*strings = (struct pprof_strings){ 0 };
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "engine/gather.h"
#include "engine/labels.h"
#include "util/utf8.h"

#define ALL_TEXT_MAX (256ull * 1024 * 1024)

/* A copy of the text; -EINVAL when it is no text. */
static int copy_text(const uint8_t *text, size_t len, char **ret_copy)
{
	char *copy;

	for (size_t at = 0; at < len;) {
		uint32_t character;

		at += utf8__next((const char *)text + at, len - at, &character);
		if (character == UTF8_INVALID || character == 0)
			return -EINVAL;
	}
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*ret_copy = copy;
	return 0;
}

/* Copies the texts at @extents, one after the other, into @buffer. */
static int read_texts(struct memory *memory, const struct extent *extents, size_t count,
		      struct buffer *buffer)
{
	struct gather_part *parts;
	uint64_t total = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		if (extents[i].len > TEXT_MAX)
			return -EPROTO;
		total += extents[i].len;
	}
	if (total > ALL_TEXT_MAX)
		return -EPROTO;
	parts = calloc(count + 1, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	err = buffer__reserve(buffer, total + 1);
	if (err)
		goto out;
	total = 0;
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct gather_part){
			.addr = extents[i].addr,
			.len = (uint32_t)extents[i].len,
			.to = buffer->bytes + total,
		};
		total += extents[i].len;
	}
	err = gather__read(memory, parts, count);
out:
	free(parts);
	return err;
}

static int read_names(struct memory *memory, const struct label *labels, size_t count,
		      struct extent *extents, struct buffer *buffer)
{
	uint64_t at = 0;
	int err;

	for (size_t i = 0; i < count; i++)
		extents[i] = labels[i].name;
	err = read_texts(memory, extents, count, buffer);
	for (size_t i = 0; !err && i < count; i++) {
		err = copy_text(buffer->bytes + at, extents[i].len, labels[i].ret_name);
		at += extents[i].len;
	}
	return err;
}

/* Copies the Location structures, @size bytes each, of those labels that have one. */
static int read_structs(struct memory *memory, const struct label *labels, size_t count,
			size_t size, struct buffer *buffer)
{
	struct gather_part *parts = calloc(count + 1, sizeof(*parts));
	size_t used = 0;
	int err;

	if (!parts)
		return -ENOMEM;
	err = buffer__reserve(buffer, (count + 1) * size);
	if (err)
		goto out;
	for (size_t i = 0; i < count; i++) {
		if (!labels[i].location)
			continue;
		parts[used++] = (struct gather_part){
			.addr = labels[i].location,
			.len = (uint32_t)size,
			.to = buffer->bytes + i * size,
		};
	}
	err = gather__read(memory, parts, used);
out:
	free(parts);
	return err;
}

static int read_locations(struct memory *memory, const struct layout *layout,
			  const struct label *labels, size_t count, struct extent *extents,
			  struct buffer *structs, struct buffer *texts)
{
	size_t size = layout__get(layout, LAYOUT_LOCATION_SIZE);
	uint64_t at = 0;
	int err = read_structs(memory, labels, count, size, structs);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *location = structs->bytes + i * size;

		extents[i] = (struct extent){ 0 };
		if (!labels[i].location)
			continue;
		extents[i].addr = field_u64(layout, location, LAYOUT_LOCATION_FILE_PTR);
		extents[i].len = field_u64(layout, location, LAYOUT_LOCATION_FILE_LEN);
		labels[i].ret_location->line = field_u32(layout, location, LAYOUT_LOCATION_LINE);
		labels[i].ret_location->column =
			field_u32(layout, location, LAYOUT_LOCATION_COLUMN);
	}
	err = read_texts(memory, extents, count, texts);
	for (size_t i = 0; !err && i < count; i++) {
		if (labels[i].location)
			err = copy_text(texts->bytes + at, extents[i].len,
					&labels[i].ret_location->file);
		at += extents[i].len;
	}
	return err;
}

int labels__read(struct memory *memory, const struct layout *layout, const struct label *labels,
		 size_t count, struct fail *fail)
{
	struct extent *extents = calloc(count + 1, sizeof(*extents));
	struct buffer structs = { 0 }, texts = { 0 };
	int err;

	if (!extents)
		return -ENOMEM;
	err = read_names(memory, labels, count, extents, &texts);
	if (!err)
		err = read_locations(memory, layout, labels, count, extents, &structs, &texts);
	if (err == -EINVAL)
		err = -EPROTO;
	if (err == -EPROTO)
		fail__set(fail, err, "a name in the circuit graph is not UTF-8 text");
	free(extents);
	buffer__free(&structs);
	buffer__free(&texts);
	return err;
}

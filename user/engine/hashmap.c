// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "engine/fields.h"
#include "engine/hashmap.h"

#define TABLE_BYTES_MAX (256ull * 1024 * 1024)
#define UNUSED		0x80 /* hashbrown's EMPTY is 0xff, DELETED 0x80 */

int table_header__decode(const struct layout *layout, const uint8_t *bytes, uint64_t entry_size,
			 struct table_header *ret_header)
{
	struct table_header header = {
		.ctrl = field_u64(layout, bytes, LAYOUT_TABLE_CTRL),
		.items = field_u64(layout, bytes, LAYOUT_TABLE_ITEMS),
		.entry_size = entry_size,
	};
	uint64_t mask = field_u64(layout, bytes, LAYOUT_TABLE_MASK);

	/* Groups of control bytes are aligned: 16 bytes with SSE2, 8 without. */
	if (header.ctrl == 0 || header.ctrl % 8 || (mask & (mask + 1)) || entry_size == 0)
		return -EPROTO;
	if (mask >= TABLE_BYTES_MAX / (entry_size + 1) || header.items > mask + 1)
		return -EPROTO;
	/* An empty table without an allocation has a mask of 0 and static control bytes. */
	header.buckets = mask == 0 && header.items == 0 ? 0 : mask + 1;
	if (header.ctrl < header.buckets * entry_size)
		return -EPROTO;
	*ret_header = header;
	return 0;
}

bool table_header__equal(const struct table_header *a, const struct table_header *b)
{
	return a->ctrl == b->ctrl && a->buckets == b->buckets && a->items == b->items;
}

size_t table_header__bytes(const struct table_header *header)
{
	return (size_t)(header->buckets * (header->entry_size + 1));
}

int table__read(struct memory *memory, const struct table_header *header, struct buffer *buffer)
{
	uint64_t used = 0, cursor = 0;
	int err;

	if (header->items == 0)
		return buffer__reserve(buffer, 1);
	err = buffer__read(buffer, memory, header->ctrl - header->buckets * header->entry_size,
			   table_header__bytes(header));
	if (err)
		return err;
	while (table__next(header, buffer->bytes, &cursor))
		used++;
	return used == header->items ? 0 : -EAGAIN;
}

const uint8_t *table__next(const struct table_header *header, const uint8_t *image,
			   uint64_t *cursor)
{
	const uint8_t *ctrl = image + header->buckets * header->entry_size;

	if (header->items == 0)
		return NULL;
	while (*cursor < header->buckets) {
		uint64_t bucket = (*cursor)++;

		if (!(ctrl[bucket] & UNUSED))
			return ctrl - (bucket + 1) * header->entry_size;
	}
	return NULL;
}

uint64_t table__entry_address(const struct table_header *header, uint64_t bucket)
{
	return header->ctrl - (bucket + 1) * header->entry_size;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses and bytes of an ELF file. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/elf_image.h"
#include "target/elf_internal.h"

#define PAGE	   4096ull
#define BLOCK_SIZE 65536ull

ssize_t elf_image__pread(const struct elf_image *image, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	if (offset > INT64_MAX || len > INT64_MAX - offset)
		return -EINVAL;
	while (done < len) {
		ssize_t n =
			pread(image->fd, (char *)buf + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int elf_image__load(const struct elf_image *image, const struct elf_range *range, char **ret_data)
{
	char *data = malloc(range->size + 1);
	ssize_t n;

	if (!data)
		return -ENOMEM;
	n = elf_image__pread(image, data, range->size, range->offset);
	if (n < 0 || (uint64_t)n != range->size) {
		free(data);
		return n < 0 ? (int)n : -EIO;
	}
	data[range->size] = '\0';
	*ret_data = data;
	return 0;
}

uint64_t elf_image__first_vaddr(const struct elf_image *image)
{
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < image->load_count; i++) {
		if (image->loads[i].vaddr < first)
			first = image->loads[i].vaddr;
	}
	return first & ~(PAGE - 1);
}

/* The segment that has file bytes at @vaddr. */
static const struct elf_segment *segment_at(const struct elf_image *image, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < image->load_count; i++) {
		const struct elf_segment *load = &image->loads[i];

		if (vaddr >= load->vaddr && vaddr - load->vaddr < load->file_size)
			return load;
	}
	return NULL;
}

int elf_image__file_offset(const struct elf_image *image, uint64_t vaddr, uint64_t *ret_offset)
{
	const struct elf_segment *load = segment_at(image, vaddr);

	if (!load)
		return -ERANGE;
	*ret_offset = load->offset + (vaddr - load->vaddr);
	return 0;
}

int elf_image__vaddr(const struct elf_image *image, uint64_t offset, uint64_t *ret_vaddr)
{
	size_t i;

	for (i = 0; i < image->load_count; i++) {
		const struct elf_segment *load = &image->loads[i];
		/* Segments are mapped by whole pages (fs/binfmt_elf.c, elf_map()). */
		uint64_t start = load->offset & ~(PAGE - 1);

		if (offset < start || offset >= load->offset + load->file_size)
			continue;
		*ret_vaddr = load->vaddr - load->offset + offset;
		return 0;
	}
	return -ERANGE;
}

static const struct elf_block *find_block(const struct elf_image *image, uint64_t offset,
					  uint64_t len)
{
	const struct elf_block *block;

	for (block = image->cache->blocks; block; block = block->next) {
		if (offset >= block->range.offset &&
		    offset - block->range.offset < block->range.size &&
		    len <= block->range.size - (offset - block->range.offset))
			return block;
	}
	return NULL;
}

/* Reads whole blocks around the bytes, so that neighbours need no further reads. */
static const struct elf_block *add_block(const struct elf_image *image, uint64_t offset,
					 uint64_t len)
{
	uint64_t start = offset & ~(BLOCK_SIZE - 1);
	uint64_t size = ((offset + len - start) + BLOCK_SIZE - 1) & ~(BLOCK_SIZE - 1);
	struct elf_block *block;
	ssize_t n;

	if (size > image->size - start)
		size = image->size - start;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	n = elf_image__pread(image, block->bytes, size, start);
	if (n < 0 || (uint64_t)n < offset + len - start) {
		free(block);
		return NULL;
	}
	block->range.offset = start;
	block->range.size = (uint64_t)n;
	block->next = image->cache->blocks;
	image->cache->blocks = block;
	return block;
}

const uint8_t *elf_image__bytes(const struct elf_image *image, uint64_t vaddr, size_t *ret_len)
{
	const struct elf_segment *load = segment_at(image, vaddr);
	const struct elf_block *block;
	uint64_t offset, len;

	if (!load || *ret_len == 0)
		return NULL;
	offset = load->offset + (vaddr - load->vaddr);
	len = load->file_size - (vaddr - load->vaddr);
	if (len > *ret_len)
		len = *ret_len;
	block = find_block(image, offset, len);
	if (!block)
		block = add_block(image, offset, len);
	if (!block)
		return NULL;
	*ret_len = len;
	return block->bytes + (offset - block->range.offset);
}

int elf_image__tls_distance(const struct elf_image *image, uint64_t tls_offset,
			    uint64_t *ret_distance)
{
	const struct elf_segment *tls = &image->tls;
	uint64_t align = tls->align ? tls->align : 1;

	if (image->machine != EM_X86_64)
		return -ENOTSUP;
	if (!image->has_tls)
		return -ENOENT;
	if (tls_offset >= tls->memory_size || align & (align - 1) || align > INT32_MAX ||
	    tls->memory_size > INT32_MAX)
		return -ERANGE;
	*ret_distance =
		tls->memory_size + ((0 - tls->vaddr - tls->memory_size) & (align - 1)) - tls_offset;
	return 0;
}

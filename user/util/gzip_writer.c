// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "util/gzip_writer.h"

#define WINDOW_BITS_GZIP (15 + 16) /* deflateInit2(): the largest window, in a gzip wrapper */
#define MEMORY_LEVEL	 8	   /* zlib's default */
#define CHUNK		 16384

struct gzip_writer {
	FILE *out;
	z_stream zlib;
	unsigned char chunk[CHUNK];
};

int gzip_writer__open(FILE *out, struct gzip_writer **ret_writer)
{
	struct gzip_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->out = out;
	if (deflateInit2(&writer->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS_GZIP,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(writer);
		return -ENOMEM;
	}
	*ret_writer = writer;
	return 0;
}

/* Runs zlib until it wants more (or, at the end, until all is out). */
static int pump(struct gzip_writer *writer, int flush)
{
	int state;

	do {
		size_t len;

		writer->zlib.next_out = writer->chunk;
		writer->zlib.avail_out = CHUNK;
		state = deflate(&writer->zlib, flush);
		if (state == Z_STREAM_ERROR)
			return -EINVAL;
		len = CHUNK - writer->zlib.avail_out;
		errno = 0;
		if (fwrite(writer->chunk, 1, len, writer->out) != len)
			return errno ? -errno : -EIO;
	} while (writer->zlib.avail_out == 0 && state != Z_STREAM_END);
	return 0;
}

int gzip_writer__write(struct gzip_writer *writer, const void *data, size_t size)
{
	const unsigned char *next = data;
	int err = 0;

	while (size > 0 && !err) {
		uInt part = size < UINT_MAX ? (uInt)size : UINT_MAX;

		writer->zlib.next_in = (z_const Bytef *)next;
		writer->zlib.avail_in = part;
		err = pump(writer, Z_NO_FLUSH);
		next += part;
		size -= part;
	}
	return err;
}

int gzip_writer__finish(struct gzip_writer *writer)
{
	writer->zlib.next_in = Z_NULL;
	writer->zlib.avail_in = 0;
	return pump(writer, Z_FINISH);
}

void gzip_writer__close(struct gzip_writer *writer)
{
	if (!writer)
		return;
	deflateEnd(&writer->zlib);
	free(writer);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "reader/gunzip.h"

#define BLOCK_SIZE 65536
#define GZIP_ONLY  (16 + MAX_WBITS) /* inflateInit2: a gzip with its header and checksum */

struct gunzip {
	z_stream stream;
	packed_read read;
	void *context;
	bool between; /* a gzip has ended, and another one may follow */
	unsigned char block[BLOCK_SIZE];
};

int gunzip__open(packed_read read, void *context, struct gunzip **ret_gunzip)
{
	struct gunzip *gunzip = calloc(1, sizeof(*gunzip));

	if (!gunzip)
		return -ENOMEM;
	gunzip->read = read;
	gunzip->context = context;
	if (inflateInit2(&gunzip->stream, GZIP_ONLY) != Z_OK) {
		free(gunzip);
		return -ENOMEM;
	}
	*ret_gunzip = gunzip;
	return 0;
}

/* More of what is packed, if all was used. Returns how much there is, 0 at the end, or an error. */
static ssize_t fill(struct gunzip *gunzip)
{
	z_stream *stream = &gunzip->stream;
	ssize_t got;

	if (stream->avail_in > 0)
		return stream->avail_in;
	got = gunzip->read(gunzip->context, gunzip->block, sizeof(gunzip->block));
	if (got > 0) {
		stream->next_in = gunzip->block;
		stream->avail_in = (unsigned int)got;
	}
	return got;
}

ssize_t gunzip__read(struct gunzip *gunzip, void *buffer, size_t len)
{
	z_stream *stream = &gunzip->stream;
	ssize_t got;
	int status;

	stream->next_out = buffer;
	stream->avail_out = len < BLOCK_SIZE ? (unsigned int)len : BLOCK_SIZE;
	len = stream->avail_out;
	while (stream->avail_out == len) {
		got = fill(gunzip);
		if (got == 0 && gunzip->between)
			return 0;
		if (got <= 0)
			return got ? got : -EBADMSG;
		if (gunzip->between && inflateReset(stream) != Z_OK)
			return -EBADMSG;
		gunzip->between = false;
		status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_STREAM_END)
			gunzip->between = true;
		else if (status != Z_OK)
			return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	return (ssize_t)(len - stream->avail_out);
}

void gunzip__close(struct gunzip *gunzip)
{
	if (!gunzip)
		return;
	inflateEnd(&gunzip->stream);
	free(gunzip);
}

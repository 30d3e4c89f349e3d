/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SHA-256 (FIPS 180-4), which a page names its own scripts by.
 */
#ifndef DBPROF_UTIL_SHA256_H
#define DBPROF_UTIL_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BASE64_SIZE 45 /* with the NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes taken */
	uint8_t block[64];
};

void sha256__begin(struct sha256 *sha);
void sha256__add(struct sha256 *sha, const void *data, size_t len);
/* The digest in base64, as the header Content-Security-Policy has it. */
void sha256__base64(struct sha256 *sha, char text[SHA256_BASE64_SIZE]);

#endif

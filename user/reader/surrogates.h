/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks for halves of surrogate pairs in JSON, which yajl would turn into question marks.
 */
#ifndef DBPROF_READER_SURROGATES_H
#define DBPROF_READER_SURROGATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero at the beginning of the text. */
struct surrogates {
	uint8_t escape;	 /* characters seen of the escape that is open; 0: none is */
	uint16_t code;	 /* its digits so far */
	uint8_t pending; /* whether a first half came, which wants the second at once */
};

/* Looks at the next part of the text. False at the first half that stands alone. */
bool surrogates__feed(struct surrogates *state, const char *text, size_t len);

#endif

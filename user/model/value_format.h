/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values as the engine prints them for people, in its dot and text profiles.
 */
#ifndef DBPROF_MODEL_VALUE_FORMAT_H
#define DBPROF_MODEL_VALUE_FORMAT_H

#include <stdio.h>

#include "model/value.h"

/*
 * Writes @value as MetaItem::format() of src/circuit/metadata.rs does, byte for byte: "1,234",
 * "12.34%", "1.50 MiB", "1.5ms", "[1, 2]", "{key: 1}". Errors are those of the stream.
 */
void value__format(const struct value *value, FILE *out);

/*
 * The same as a string of its own, to be freed, which ends at the first U+0000 of the value; NULL
 * when memory is short.
 */
char *value__text(const struct value *value);

/* The Display of size_of's HumanBytes: "512 B", "1.50 MiB". */
void value__format_bytes(uint64_t bytes, FILE *out);

/* The Debug of Rust's Duration: "1.5s", "20.25ms", "3µs", "0ns". */
void value__format_duration(struct duration duration, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the fields lie that we read in a DBSP program's memory: one named number each.
 *
 * Rust promises no layout, so the numbers come from debug info of the same crate and compiler
 * (layout_dwarf.c) or from a file made from it (layout_file.c).
 */
#ifndef DBPROF_LAYOUT_LAYOUT_H
#define DBPROF_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "layout/layout_items.h"
#include "target/elf_image.h"
#include "util/fail.h"

#define LAYOUT_ABSENT UINT64_MAX /* unknown, or the crate's version has no such field */

struct layout {
	char dbsp[32];	  /* "0.354.0" */
	char rustc[32];	  /* "1.95.0" */
	char target[16];  /* "x86_64" or "aarch64" */
	char source[256]; /* where it came from, for people: a file name or "debug info of ..." */
	bool exact;	  /* made for exactly this crate and compiler version */
	uint64_t value[LAYOUT_ITEMS];
};

/* The number of an item; LAYOUT_ABSENT when unknown. */
static inline uint64_t layout__get(const struct layout *layout, enum layout_item item)
{
	return layout->value[item];
}

/* Stable name of an item, as in layout files: "circuit_inner.global_node_id". */
const char *layout_item__name(enum layout_item item);
/* Whether a layout without it is useless. */
bool layout_item__required(enum layout_item item);

/*
 * Takes the layout from the debug info of @path, or of its separate debug file. Returns 0,
 * -ENODATA when there is no debug info of the dbsp crate, -EBADMSG when it is damaged.
 */
int layout__from_dwarf(const char *path, struct layout *ret_layout, struct fail *fail);

/* Reads a layout file. Returns 0, -EBADMSG with @fail naming the fault, another errno. */
int layout__from_file(const char *path, struct layout *ret_layout, struct fail *fail);
int layout__from_text(const char *text, size_t len, const char *name, struct layout *ret_layout,
		      struct fail *fail);

/* Writes a layout file. Returns 0 or a negative errno. */
int layout__write(const struct layout *layout, FILE *out);

/*
 * The layout for @image: debug info, else the file @given unless NULL, else the shipped layout
 * of its dbsp and rustc version, else the nearest shipped one (then !exact). Returns 0, -ENOENT
 * with a sentence that names the version and says how to make one.
 */
int layout__choose(const struct elf_image *image, const char *given, struct layout *ret_layout,
		   struct fail *fail);

#endif

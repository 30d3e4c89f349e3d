// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "util/embedded.h"

static const char *const item_names[LAYOUT_ITEMS] = {
#define X(id, name, required, type, path) name,
	LAYOUT_ITEM_LIST(X)
#undef X
};

static const bool item_required[LAYOUT_ITEMS] = {
#define X(id, name, required, type, path) required,
	LAYOUT_ITEM_LIST(X)
#undef X
};

const char *layout_item__name(enum layout_item item)
{
	return item_names[item];
}

bool layout_item__required(enum layout_item item)
{
	return item_required[item];
}

/* How far apart two versions are, most significant part first. */
struct distance {
	unsigned long part[3];
};

static void parse_version(const char *text, unsigned long part[3])
{
	int i;

	for (i = 0; i < 3; i++) {
		char *end;

		part[i] = strtoul(text, &end, 10);
		text = *end == '.' ? end + 1 : "";
	}
}

static struct distance distance_of(const char *a, const char *b)
{
	unsigned long x[3], y[3];
	struct distance distance;
	int i;

	parse_version(a, x);
	parse_version(b, y);
	for (i = 0; i < 3; i++)
		distance.part[i] = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
	return distance;
}

static int compare_distances(const struct distance *a, const struct distance *b)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	}
	return 0;
}

/* Whether layout @a suits the versions better than @b: the crate decides, then the compiler. */
static bool is_nearer(const struct layout *a, const struct layout *b, const char *dbsp,
		      const char *rustc)
{
	struct distance x = distance_of(a->dbsp, dbsp), y = distance_of(b->dbsp, dbsp);
	int order = compare_distances(&x, &y);

	if (order)
		return order < 0;
	x = distance_of(a->rustc, rustc);
	y = distance_of(b->rustc, rustc);
	return compare_distances(&x, &y) < 0;
}

static bool is_exact(const struct layout *layout, const struct elf_image *image)
{
	return layout->dbsp[0] && layout->rustc[0] &&
	       strcmp(layout->dbsp, elf_image__dbsp_version(image)) == 0 &&
	       strcmp(layout->rustc, elf_image__rustc_version(image)) == 0;
}

static bool is_usable(const struct layout *layout, const struct elf_image *image)
{
	return strcmp(layout->target, elf_image__machine(image)) == 0;
}

static int choose_given(const struct elf_image *image, const char *given, struct layout *ret_layout,
			struct fail *fail)
{
	struct layout layout;
	int err;

	err = layout__from_file(given, &layout, fail);
	if (err)
		return err;
	if (!is_usable(&layout, image))
		return fail__set(fail, -EINVAL, "the layout file %s is for %s, the program for %s",
				 given, layout.target, elf_image__machine(image));
	layout.exact = is_exact(&layout, image);
	*ret_layout = layout;
	return 0;
}

/* The nearest shipped layout. A crate from a checkout bears no version: the newest one then. */
static int choose_shipped(const struct elf_image *image, struct layout *ret_layout,
			  struct fail *fail)
{
	const char *dbsp = elf_image__dbsp_version(image);
	const char *rustc = elf_image__rustc_version(image);
	const struct embedded *file = NULL;
	struct layout best, layout;
	bool found = false;
	int err;

	while ((file = embedded__next("layouts/", file))) {
		err = layout__from_text(file->data, file->len, file->name, &layout, fail);
		if (err)
			return err;
		if (!is_usable(&layout, image))
			continue;
		if (!found || is_nearer(&layout, &best, dbsp[0] ? dbsp : "999999", rustc))
			best = layout;
		found = true;
	}
	if (!found)
		return fail__set(fail, -ENOENT,
				 "no layout is known for dbsp %s, rustc %s on %s: write one with "
				 "\"dbprof-bpf layout BINARY\" from a build with debug info of the "
				 "same versions, and give that file",
				 dbsp[0] ? dbsp : "of unknown version",
				 rustc[0] ? rustc : "of unknown version",
				 elf_image__machine(image));
	best.exact = is_exact(&best, image);
	*ret_layout = best;
	return 0;
}

int layout__choose(const struct elf_image *image, const char *given, struct layout *ret_layout,
		   struct fail *fail)
{
	struct fail debug_info = { 0 };
	struct layout layout;
	int damaged, err;

	damaged = layout__from_dwarf(elf_image__path(image), &layout, &debug_info);
	if (damaged == 0) {
		*ret_layout = layout;
		return 0;
	}
	if (given)
		return choose_given(image, given, ret_layout, fail);
	err = choose_shipped(image, &layout, fail);
	if (err)
		return err;
	/* The program's own debug info contradicts what we look for: do not guess then. */
	if (damaged != -ENODATA && !layout.exact)
		return fail__set(fail, damaged, "%s", debug_info.text);
	*ret_layout = layout;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/debug_file.h"
#include "layout/layout.h"
#include "layout/layout_path.h"
#include "layout/type_finder.h"

/*
 * A type that every layout needs (src/monitor.rs). Where no string of the debug info is its name,
 * there are line tables only, or other crates' debug info: no need to read it all.
 */
#define WITNESS_TYPE "TraceMonitorInternal"

struct item {
	const char *name;
	const char *type;
	const char *path;
	bool required;
};

static const struct item items[LAYOUT_ITEMS] = {
#define X(id, name, required, type, path) { name, type, path, required },
	LAYOUT_ITEM_LIST(X)
#undef X
};

struct search {
	struct type_pattern patterns[LAYOUT_ITEMS];
	bool matched[LAYOUT_ITEMS]; /* by pattern */
	size_t pattern_count;
	size_t pattern_of[LAYOUT_ITEMS]; /* by item, as all below */
	uint64_t value[LAYOUT_ITEMS];
	bool known[LAYOUT_ITEMS];
	bool differs[LAYOUT_ITEMS];
};

/* Items of one type share its pattern. */
static void collect_patterns(struct search *search)
{
	size_t item, i;

	for (item = 0; item < LAYOUT_ITEMS; item++) {
		for (i = 0; i < search->pattern_count; i++) {
			if (strcmp(search->patterns[i].text, items[item].type) == 0)
				break;
		}
		if (i == search->pattern_count)
			type_pattern__set(&search->patterns[search->pattern_count++],
					  items[item].type);
		search->pattern_of[item] = i;
	}
}

static void take_type(Dwarf_Die *type, size_t pattern, void *arg)
{
	struct search *search = arg;
	size_t item;

	search->matched[pattern] = true;
	for (item = 0; item < LAYOUT_ITEMS; item++) {
		uint64_t value;

		if (search->pattern_of[item] != pattern ||
		    layout_path__resolve(type, items[item].path, &value))
			continue;
		if (!search->known[item])
			search->value[item] = value;
		else if (search->value[item] != value)
			search->differs[item] = true;
		search->known[item] = true;
	}
}

/* Debug info split from the main file has its strings elsewhere. */
static bool is_split(Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;

	return dwarf_get_units(dwarf, NULL, &unit, NULL, &type, NULL, NULL) == 0 &&
	       type == DW_UT_skeleton;
}

static bool has_witness(Dwarf *dwarf)
{
	static const char witness[] = WITNESS_TYPE;
	const size_t witness_len = strlen(witness);
	const char *string;
	Dwarf_Off offset = 0;
	size_t len;

	/* The linker may share the tail of a longer string. */
	while ((string = dwarf_getstring(dwarf, offset, &len))) {
		if (len >= witness_len && strcmp(string + len - witness_len, witness) == 0)
			return true;
		offset += len + 1;
	}
	return false;
}

static int check(const struct search *search, const char *path, struct fail *fail)
{
	bool dbsp = false;
	size_t i;

	for (i = 0; i < search->pattern_count; i++)
		dbsp |= search->matched[i] && strstr(search->patterns[i].text, "dbsp::");
	if (!dbsp)
		return fail__set(fail, -ENODATA, "%s has no debug info of the dbsp crate", path);
	for (i = 0; i < LAYOUT_ITEMS; i++) {
		const char *cause = NULL;

		if (!items[i].required)
			continue;
		if (search->differs[i])
			cause = "several types that differ in it match";
		else if (!search->matched[search->pattern_of[i]])
			cause = "no type matches";
		else if (!search->known[i])
			cause = "there is no such member in";
		else if (search->value[i] == LAYOUT_ABSENT)
			cause = "that variant has no value of its own in";
		if (cause)
			return fail__set(fail, -EBADMSG,
					 "the debug info of %s does not give %s (%s): %s %s", path,
					 items[i].name, items[i].path, cause, items[i].type);
	}
	return 0;
}

/* "MAJOR.MINOR.PATCH" after @prefix in @text, for people's and files' eyes only. */
static void copy_version(char *version, size_t size, const char *text, const char *prefix)
{
	const char *at = strstr(text, prefix);
	size_t len;

	if (!at)
		return;
	at += strlen(prefix);
	len = strspn(at, "0123456789.");
	if (len && len < size) {
		memcpy(version, at, len);
		version[len] = '\0';
	}
}

/*
 * A separate debug file lacks the sections that tell the versions of an executable. Units are
 * called "/../dbsp-0.354.0/src/lib.rs/@/..", their producer "clang LLVM (rustc version 1.95.0 ..)".
 */
static void versions_from_units(Dwarf *dwarf, struct layout *layout)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while ((!layout->dbsp[0] || !layout->rustc[0]) &&
	       dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		Dwarf_Attribute attr;
		const char *producer, *name;

		name = dwarf_diename(&die);
		producer = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attr));
		if (name && !layout->dbsp[0] && strstr(name, "/src/lib.rs"))
			copy_version(layout->dbsp, sizeof(layout->dbsp), name, "/dbsp-");
		if (producer && !layout->rustc[0])
			copy_version(layout->rustc, sizeof(layout->rustc), producer,
				     "rustc version ");
	}
}

static int describe_image(const char *path, const struct debug_file *file, struct layout *layout,
			  struct fail *fail)
{
	struct elf_image *image;
	int err;

	err = elf_image__open(path, &image, fail);
	if (err)
		return err;
	snprintf(layout->dbsp, sizeof(layout->dbsp), "%s", elf_image__dbsp_version(image));
	snprintf(layout->rustc, sizeof(layout->rustc), "%s", elf_image__rustc_version(image));
	snprintf(layout->target, sizeof(layout->target), "%s", elf_image__machine(image));
	snprintf(layout->source, sizeof(layout->source), "debug info of %s",
		 debug_file__path(file));
	elf_image__close(image);
	versions_from_units(debug_file__dwarf(file), layout);
	layout->exact = true;
	return 0;
}

static int search_types(const struct debug_file *file, struct search *search, struct fail *fail)
{
	Dwarf *dwarf = debug_file__dwarf(file);
	const char *path = debug_file__path(file);
	int err;

	if (!is_split(dwarf) && !has_witness(dwarf))
		return fail__set(fail, -ENODATA,
				 "%s has debug info, but not of the types of the dbsp crate", path);
	collect_patterns(search);
	err = type_finder__run(dwarf, search->patterns, search->pattern_count, take_type, search);
	if (err)
		return fail__set(fail, err, "cannot read the debug info of %s: %s", path,
				 err == -EBADMSG ? "it is damaged" : strerror(-err));
	return check(search, path, fail);
}

static int fill(const struct debug_file *file, const char *path, struct layout *layout,
		struct fail *fail)
{
	struct search *search = calloc(1, sizeof(*search));
	size_t i;
	int err;

	if (!search)
		return fail__set(fail, -ENOMEM, "out of memory");
	err = search_types(file, search, fail);
	if (!err)
		err = describe_image(path, file, layout, fail);
	for (i = 0; i < LAYOUT_ITEMS; i++)
		layout->value[i] = search->known[i] && !search->differs[i] ? search->value[i]
									   : LAYOUT_ABSENT;
	free(search);
	return err;
}

int layout__from_dwarf(const char *path, struct layout *ret_layout, struct fail *fail)
{
	struct layout layout = { 0 };
	struct debug_file *file;
	int err;

	err = debug_file__open(path, &file);
	if (err == -ENODATA)
		return fail__set(fail, err, "%s has no debug info, nor is there a file of it",
				 path);
	if (err == -EBADMSG)
		return fail__set(fail, err, "%s is no ELF file, or its debug info is damaged",
				 path);
	if (err)
		return fail__set(fail, err, "cannot read %s: %s", path, strerror(-err));
	err = fill(file, path, &layout, fail);
	debug_file__close(file);
	if (err)
		return err;
	*ret_layout = layout;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/type_finder.h"

#define DEPTH_MAX    64
#define NAME_MAX_LEN (1u << 20)

struct finder {
	const struct type_pattern *patterns;
	size_t count;
	void (*found)(Dwarf_Die *type, size_t pattern, void *arg);
	void *arg;
	char *name; /* of the scope we are in, with "::" at its end */
	size_t len;
	size_t size;
};

void type_pattern__set(struct type_pattern *pattern, const char *text)
{
	pattern->text = text;
	pattern->literal = strcspn(text, "*");
	pattern->wild = text[pattern->literal] == '*';
}

/* Goes back to the last "*" only, which is enough and never more than quadratic. */
bool type_pattern__matches(const struct type_pattern *pattern, const char *name)
{
	const char *text = pattern->text, *star = NULL, *resume = NULL;

	while (*name) {
		if (*text == '*') {
			star = ++text;
			resume = name;
		} else if (*text == *name) {
			text++;
			name++;
		} else if (star) {
			text = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*text == '*')
		text++;
	return !*text;
}

/* Appends to the scope's name; the caller takes it off by setting back len. */
static int push(struct finder *finder, const char *text)
{
	size_t len = strlen(text);

	if (len > NAME_MAX_LEN || finder->len + len > NAME_MAX_LEN)
		return -EBADMSG;
	if (finder->len + len + 1 > finder->size) {
		size_t size = 2 * (finder->len + len + 1);
		char *name = realloc(finder->name, size);

		if (!name)
			return -ENOMEM;
		finder->name = name;
		finder->size = size;
	}
	memcpy(finder->name + finder->len, text, len + 1);
	finder->len += len;
	return 0;
}

/* Whether a name that begins with the scope's may match. */
static bool may_hold(const struct finder *finder, const struct type_pattern *pattern)
{
	size_t len = finder->len < pattern->literal ? finder->len : pattern->literal;

	if (!pattern->wild && finder->len > pattern->literal)
		return false;
	return memcmp(finder->name, pattern->text, len) == 0;
}

static bool worth_entering(const struct finder *finder)
{
	size_t i;

	for (i = 0; i < finder->count; i++) {
		if (may_hold(finder, &finder->patterns[i]))
			return true;
	}
	return false;
}

static void match_type(struct finder *finder, Dwarf_Die *type)
{
	size_t i;

	for (i = 0; i < finder->count; i++) {
		if (!may_hold(finder, &finder->patterns[i]) ||
		    !type_pattern__matches(&finder->patterns[i], finder->name))
			continue;
		if (dwarf_hasattr(type, DW_AT_declaration) || dwarf_bytesize(type) < 0)
			return;
		finder->found(type, i, finder->arg);
	}
}

static bool is_type(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static int visit_children(struct finder *finder, Dwarf_Die *parent, unsigned int depth);

/* Subprograms are not entered: rustc puts closures and futures into namespaces. */
static int visit(struct finder *finder, Dwarf_Die *die, unsigned int depth)
{
	size_t len = finder->len;
	int tag = dwarf_tag(die);
	const char *name;
	int err;

	if (tag != DW_TAG_namespace && !is_type(tag))
		return 0;
	name = dwarf_diename(die);
	if (!name)
		return 0;
	err = push(finder, name);
	if (!err && is_type(tag))
		match_type(finder, die);
	if (!err)
		err = push(finder, "::");
	if (!err && worth_entering(finder))
		err = visit_children(finder, die, depth + 1);
	finder->len = len;
	return err;
}

static int visit_children(struct finder *finder, Dwarf_Die *parent, unsigned int depth)
{
	Dwarf_Die die;
	int more, err = 0;

	if (depth > DEPTH_MAX)
		return 0;
	for (more = dwarf_child(parent, &die); more == 0 && !err;
	     more = dwarf_siblingof(&die, &die))
		err = visit(finder, &die, depth);
	if (err)
		return err;
	return more < 0 ? -EBADMSG : 0;
}

int type_finder__run(Dwarf *dwarf, const struct type_pattern *patterns, size_t count,
		     void (*found)(Dwarf_Die *type, size_t pattern, void *arg), void *arg)
{
	struct finder finder = { .patterns = patterns, .count = count, .found = found, .arg = arg };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	int more, err;

	err = push(&finder, "");
	while (!err) {
		more = dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split);
		if (more)
			break;
		if (type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid)
			die = split;
		err = visit_children(&finder, &die, 0);
	}
	if (!err && more < 0)
		err = -EBADMSG;
	free(finder.name);
	return err;
}

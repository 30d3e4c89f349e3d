// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "layout/dwarf_type.h"
#include "layout/layout.h"
#include "layout/layout_path.h"

#define NAME_SIZE 128

/* Where a walk has come to: a type, and its offset in the type where it began (anew). */
struct place {
	Dwarf_Die type;
	uint64_t offset;
};

static int enter_member(struct place *place, Dwarf_Die *member)
{
	uint64_t offset;
	int err;

	err = dwarf_type__member_offset(member, &offset);
	if (!err)
		err = dwarf_type__of(member, &place->type);
	if (err)
		return err;
	if (offset > INT64_MAX - place->offset)
		return -ERANGE;
	place->offset += offset;
	return 0;
}

static int step_member(struct place *place, const char *name)
{
	Dwarf_Die member;

	if (dwarf_type__find_child(&place->type, DW_TAG_member, name, &member))
		return -ENOENT;
	return enter_member(place, &member);
}

static int step_pointer(struct place *place)
{
	Dwarf_Die *type = &place->type;

	if (dwarf_tag(type) != DW_TAG_pointer_type && dwarf_tag(type) != DW_TAG_reference_type)
		return -ENOENT;
	place->offset = 0;
	return dwarf_type__of(type, type);
}

static int step_element(struct place *place)
{
	if (dwarf_tag(&place->type) != DW_TAG_array_type)
		return -ENOENT;
	return dwarf_type__of(&place->type, &place->type);
}

static int step_argument(struct place *place, const char *name)
{
	Dwarf_Die argument;

	if (dwarf_type__find_child(&place->type, DW_TAG_template_type_parameter, name, &argument))
		return -ENOENT;
	place->offset = 0;
	return dwarf_type__of(&argument, &place->type);
}

/*
 * rustc describes an enum as a structure with a variant part, whose variants each have one
 * member: named as the variant, or by its number in an async fn or block, whose variants' types
 * are named instead (Unresumed, Suspend0).
 */
static int find_variant(Dwarf_Die *type, const char *name, Dwarf_Die *ret_variant,
			Dwarf_Die *ret_member)
{
	Dwarf_Die part, variant, member, content;
	int i, err;

	if (dwarf_type__find_child(type, DW_TAG_variant_part, NULL, &part))
		return -ENOENT;
	err = dwarf_type__next_child(&part, DW_TAG_variant, &variant, true);
	for (i = 0; !err && i < DWARF_CHILDREN_MAX; i++) {
		const char *member_name, *type_name = NULL;

		if (dwarf_type__find_child(&variant, DW_TAG_member, NULL, &member) == 0) {
			member_name = dwarf_diename(&member);
			if (dwarf_type__of(&member, &content) == 0)
				type_name = dwarf_diename(&content);
			if ((member_name && strcmp(member_name, name) == 0) ||
			    (type_name && strcmp(type_name, name) == 0)) {
				*ret_variant = variant;
				*ret_member = member;
				return 0;
			}
		}
		err = dwarf_type__next_child(&part, DW_TAG_variant, &variant, false);
	}
	return -ENOENT;
}

static int step_variant(struct place *place, const char *name)
{
	Dwarf_Die variant, member;

	if (find_variant(&place->type, name, &variant, &member))
		return -ENOENT;
	return enter_member(place, &member);
}

/* The member that holds an enum's discriminant; an enum with one variant has none. */
static int find_tag(Dwarf_Die *type, Dwarf_Die *ret_tag)
{
	Dwarf_Attribute attr;
	Dwarf_Die part;

	if (dwarf_type__find_child(type, DW_TAG_variant_part, NULL, &part) ||
	    !dwarf_attr(&part, DW_AT_discr, &attr) || !dwarf_formref_die(&attr, ret_tag))
		return -ENOENT;
	return 0;
}

static int tag_offset(struct place *place, uint64_t *ret_value)
{
	uint64_t offset;
	Dwarf_Die tag;
	int err;

	if (dwarf_tag(&place->type) == DW_TAG_enumeration_type) {
		*ret_value = place->offset;
		return 0;
	}
	if (find_tag(&place->type, &tag))
		return -ENOENT;
	err = dwarf_type__member_offset(&tag, &offset);
	if (err)
		return err;
	if (offset > INT64_MAX - place->offset)
		return -ERANGE;
	*ret_value = place->offset + offset;
	return 0;
}

/* The type of an enum's discriminant. An enum without fields is that type itself. */
static int tag_type(Dwarf_Die *type, Dwarf_Die *ret_type)
{
	Dwarf_Die tag;

	if (dwarf_tag(type) == DW_TAG_enumeration_type) {
		*ret_type = *type;
		return 0;
	}
	return find_tag(type, &tag) ? -ENOENT : dwarf_type__of(&tag, ret_type);
}

static int tag_size(Dwarf_Die *type, uint64_t *ret_value)
{
	Dwarf_Die tag;

	return tag_type(type, &tag) ? -ENOENT : dwarf_type__size(&tag, ret_value);
}

static int tag_value(Dwarf_Die *type, const char *name, uint64_t *ret_value)
{
	Dwarf_Die variant, member, tag;
	Dwarf_Attribute attr;

	if (tag_type(type, &tag))
		return -ENOENT;
	if (dwarf_tag(type) == DW_TAG_enumeration_type) {
		if (dwarf_type__find_child(type, DW_TAG_enumerator, name, &variant) ||
		    !dwarf_attr(&variant, DW_AT_const_value, &attr))
			return -ENOENT;
		return dwarf_type__constant(&attr, &tag, ret_value);
	}
	if (find_variant(type, name, &variant, &member))
		return -ENOENT;
	if (!dwarf_attr(&variant, DW_AT_discr_value, &attr)) {
		*ret_value = LAYOUT_ABSENT;
		return 0;
	}
	return dwarf_type__constant(&attr, &tag, ret_value);
}

/* The step that ends a path: "!tag", "!tagsize", "!is=Variant", "#size". */
static int finish(struct place *place, const char *end, uint64_t *ret_value)
{
	if (strcmp(end, "!tag") == 0)
		return tag_offset(place, ret_value);
	if (strcmp(end, "!tagsize") == 0)
		return tag_size(&place->type, ret_value);
	if (strncmp(end, "!is=", 4) == 0)
		return tag_value(&place->type, end + 4, ret_value);
	if (strcmp(end, "#size") == 0)
		return dwarf_type__size(&place->type, ret_value);
	return -EINVAL;
}

/* Takes a name off *path. */
static int take_name(const char **path, char name[NAME_SIZE])
{
	size_t len = strcspn(*path, ".-<>[?!#");

	if (len == 0 || len >= NAME_SIZE)
		return -EINVAL;
	memcpy(name, *path, len);
	name[len] = '\0';
	*path += len;
	return 0;
}

static int take_step(struct place *place, const char **path)
{
	char name[NAME_SIZE];
	char kind = **path;
	int err;

	if (strncmp(*path, "[]", 2) == 0) {
		*path += 2;
		return step_element(place);
	}
	if (strncmp(*path, "->", 2) == 0) {
		err = step_pointer(place);
		*path += 2;
		if (err || **path == '?' || **path == '!' || **path == '#')
			return err;
		kind = 'a';
	} else if (kind == '.' || kind == '?' || kind == '<') {
		++*path;
	}
	err = take_name(path, name);
	if (err)
		return err;
	if (kind == '?')
		return step_variant(place, name);
	if (kind != '<')
		return step_member(place, name);
	if (**path != '>')
		return -EINVAL;
	++*path;
	return step_argument(place, name);
}

int layout_path__resolve(const Dwarf_Die *type, const char *path, uint64_t *ret_value)
{
	struct place place = { .type = *type };
	int err;

	while (*path) {
		if (*path == '!' || *path == '#')
			return finish(&place, path, ret_value);
		err = take_step(&place, &path);
		if (err)
			return err;
	}
	*ret_value = place.offset;
	return 0;
}

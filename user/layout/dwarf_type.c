// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "layout/dwarf_type.h"
#include "layout/layout.h"

#define PEEL_MAX	16
#define ARRAY_DEPTH_MAX 8
#define POINTER_SIZE	8 /* only 64-bit executables are read */

int dwarf_type__next_child(Dwarf_Die *parent, int tag, Dwarf_Die *child, bool first)
{
	int i, more;

	more = first ? dwarf_child(parent, child) : dwarf_siblingof(child, child);
	for (i = 0; more == 0 && i < DWARF_CHILDREN_MAX; i++) {
		if (dwarf_tag(child) == tag)
			return 0;
		more = dwarf_siblingof(child, child);
	}
	return -ENOENT;
}

int dwarf_type__find_child(Dwarf_Die *parent, int tag, const char *name, Dwarf_Die *ret_child)
{
	Dwarf_Die child;
	int i, err = dwarf_type__next_child(parent, tag, &child, true);

	for (i = 0; !err && i < DWARF_CHILDREN_MAX; i++) {
		const char *found = dwarf_diename(&child);

		if (!name || (found && strcmp(found, name) == 0)) {
			*ret_child = child;
			return 0;
		}
		err = dwarf_type__next_child(parent, tag, &child, false);
	}
	return -ENOENT;
}

int dwarf_type__of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Die type = *die;
	int i;

	for (i = 0; i < PEEL_MAX; i++) {
		Dwarf_Attribute attr;
		int tag;

		if (!dwarf_attr(&type, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type))
			return -ENOENT;
		tag = dwarf_tag(&type);
		if (tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
		    tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
		    tag == DW_TAG_atomic_type)
			continue;
		*ret_type = type;
		return 0;
	}
	return -ENOENT;
}

int dwarf_type__member_offset(Dwarf_Die *member, uint64_t *ret_offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset = 0;

	if (dwarf_attr(member, DW_AT_data_member_location, &attr) &&
	    dwarf_formudata(&attr, &offset))
		return -ENOENT;
	/* No type is larger than an address space. */
	if (offset > INT64_MAX)
		return -ERANGE;
	*ret_offset = offset;
	return 0;
}

/* rustc describes an array by its number of elements (DW_AT_count). */
static int array_size(Dwarf_Die *array, unsigned int depth, uint64_t *ret_size);

/*
 * libdw's dwarf_aggregate_size() follows references without end where damaged debug info makes
 * them go in circles.
 */
static int size_to_depth(Dwarf_Die *type, unsigned int depth, uint64_t *ret_size)
{
	int size = dwarf_bytesize(type), tag = dwarf_tag(type);

	if (size >= 0)
		*ret_size = (uint64_t)size;
	else if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)
		*ret_size = POINTER_SIZE;
	else if (tag == DW_TAG_array_type && depth < ARRAY_DEPTH_MAX)
		return array_size(type, depth, ret_size);
	else
		return -ENOENT;
	return 0;
}

static int array_size(Dwarf_Die *array, unsigned int depth, uint64_t *ret_size)
{
	Dwarf_Die range, element;
	Dwarf_Attribute attr;
	Dwarf_Word count;
	uint64_t size;
	int err;

	if (dwarf_type__find_child(array, DW_TAG_subrange_type, NULL, &range) ||
	    !dwarf_attr(&range, DW_AT_count, &attr) || dwarf_formudata(&attr, &count) ||
	    dwarf_type__of(array, &element))
		return -ENOENT;
	err = size_to_depth(&element, depth + 1, &size);
	if (err)
		return err;
	if (size && count > INT64_MAX / size)
		return -ERANGE;
	*ret_size = count * size;
	return 0;
}

int dwarf_type__size(Dwarf_Die *type, uint64_t *ret_size)
{
	return size_to_depth(type, 0, ret_size);
}

static bool is_signed(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	return dwarf_attr(type, DW_AT_encoding, &attr) && dwarf_formudata(&attr, &encoding) == 0 &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

/*
 * LLVM writes a value in as few bytes as hold it, with the sign of its type (addSInt(), addUInt()
 * in DwarfUnit.cpp), so the type tells how to widen it.
 */
static int small_constant(Dwarf_Attribute *attr, bool widen_sign, uint64_t *ret_value)
{
	Dwarf_Sword signed_value;
	Dwarf_Word value;

	if (widen_sign) {
		if (dwarf_formsdata(attr, &signed_value))
			return -ENOENT;
		value = (Dwarf_Word)signed_value;
	} else if (dwarf_formudata(attr, &value)) {
		return -ENOENT;
	}
	*ret_value = value;
	return 0;
}

int dwarf_type__constant(Dwarf_Attribute *attr, Dwarf_Die *type, uint64_t *ret_value)
{
	uint64_t size, value = 0;
	Dwarf_Block block;
	size_t i;

	if (dwarf_type__size(type, &size))
		return -ENOENT;
	if (dwarf_formblock(attr, &block) == 0) {
		for (i = 0; i < block.length; i++) {
			if (i >= sizeof(value) && block.data[i])
				return -ERANGE;
			if (i < sizeof(value))
				value |= (uint64_t)block.data[i] << (8 * i);
		}
	} else if (small_constant(attr, is_signed(type), &value)) {
		return -ENOENT;
	}
	if (size < sizeof(value))
		value &= (1ull << (8 * size)) - 1;
	/* The one value that means "unknown" here. */
	if (value == LAYOUT_ABSENT)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

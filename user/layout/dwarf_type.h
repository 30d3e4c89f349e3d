/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types of debug info as rustc writes it, with bounds for damaged debug info. All functions return
 * 0, -ENOENT when there is no such thing, -ERANGE when a number does not fit.
 */
#ifndef DBPROF_LAYOUT_DWARF_TYPE_H
#define DBPROF_LAYOUT_DWARF_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#define DWARF_CHILDREN_MAX 65536 /* of one type; the largest enums have some thousand variants */

/* The first child of @parent with tag @tag, or the next one after *@child. */
int dwarf_type__next_child(Dwarf_Die *parent, int tag, Dwarf_Die *child, bool first);
/* The first child of @parent with that tag and, unless NULL, name. */
int dwarf_type__find_child(Dwarf_Die *parent, int tag, const char *name, Dwarf_Die *ret_child);

/* What DW_AT_type of @die refers to, behind typedefs and qualifiers. */
int dwarf_type__of(Dwarf_Die *die, Dwarf_Die *ret_type);
/* In bytes. */
int dwarf_type__size(Dwarf_Die *type, uint64_t *ret_size);

/* Offset of a member in bytes; 0 in unions, which leave it out. */
int dwarf_type__member_offset(Dwarf_Die *member, uint64_t *ret_offset);

/* A constant of type @type, cut to its size; of one over 64 bits, the high part must be empty. */
int dwarf_type__constant(Dwarf_Attribute *attr, Dwarf_Die *type, uint64_t *ret_value);

#endif

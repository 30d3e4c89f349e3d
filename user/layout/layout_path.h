/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks a path (its grammar stands in layout_items.h) inside a type of debug info.
 */
#ifndef DBPROF_LAYOUT_LAYOUT_PATH_H
#define DBPROF_LAYOUT_LAYOUT_PATH_H

#include <stdint.h>

#include <elfutils/libdw.h>

/*
 * Resolves @path in the type @type. *ret_value is LAYOUT_ABSENT for the value of a variant that
 * has none. Returns 0, -ENOENT when the type has no such path, -ERANGE when the number does not
 * fit, -EINVAL when the path itself is wrong.
 */
int layout_path__resolve(const Dwarf_Die *type, const char *path, uint64_t *ret_value);

#endif

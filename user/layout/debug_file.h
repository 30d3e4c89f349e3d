/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug info of an executable, inside of it or in a file of its own.
 */
#ifndef DBPROF_LAYOUT_DEBUG_FILE_H
#define DBPROF_LAYOUT_DEBUG_FILE_H

#include <elfutils/libdw.h>

struct debug_file;

/*
 * Opens the debug info of the ELF file @path, else of a separate file found by its build id or
 * .gnu_debuglink, below the target's own root directory too when @path is /proc/PID/exe. Nothing
 * is fetched from the network. Returns 0, -ENODATA when there is none, -EBADMSG when it is
 * damaged, another negative errno.
 */
int debug_file__open(const char *path, struct debug_file **ret_file);
void debug_file__close(struct debug_file *file);

/* The file that has the debug info: @path or the separate one. */
const char *debug_file__path(const struct debug_file *file);
Dwarf *debug_file__dwarf(const struct debug_file *file);

#endif

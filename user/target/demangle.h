/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of symbols as Rust writes them.
 */
#ifndef DBPROF_TARGET_DEMANGLE_H
#define DBPROF_TARGET_DEMANGLE_H

/*
 * The name without hash, closures as {{closure}}; NULL when @name is not mangled by rustc, is too
 * long, or stands for a name that is too long. Free it.
 */
char *demangle__rust(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_EXPORT_EXPORT_ZIP_H
#define DBPROF_EXPORT_EXPORT_ZIP_H

#include <stdint.h>

#include "model/source.h"

/*
 * The time of the entries of an archive, seconds since 1970: when the window began, or the start of
 * 1980, the first that a zip archive can tell, so that equal profiles give equal bytes.
 */
int64_t export_zip_time(const struct profile_source *source);

#endif

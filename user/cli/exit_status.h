/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef DBPROF_CLI_EXIT_STATUS_H
#define DBPROF_CLI_EXIT_STATUS_H

/* What the program exits with; scripts rely on it. */
enum exit_status {
	STATUS_COMPLETE = 0,
	STATUS_FAILED = 1, /* nothing was written */
	STATUS_USAGE = 2,
	STATUS_INCOMPLETE = 3, /* written, but something could not be observed */
};

#endif

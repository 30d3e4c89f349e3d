// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/kernel_names.h"

const char *cause_name(unsigned int cause)
{
	static const char *const names[DBPROF_CAUSES] = {
		[DBPROF_CAUSE_FUTEX] = "futex",	      [DBPROF_CAUSE_EPOLL] = "epoll",
		[DBPROF_CAUSE_BLOCK_IO] = "block_io", [DBPROF_CAUSE_PAGE_FAULT] = "page_fault",
		[DBPROF_CAUSE_SOCKET] = "socket",     [DBPROF_CAUSE_PIPE] = "pipe",
		[DBPROF_CAUSE_SLEEP] = "sleep",	      [DBPROF_CAUSE_OTHER] = "other",
	};

	return names[cause < DBPROF_CAUSES ? cause : DBPROF_CAUSE_OTHER];
}

const char *party_name(unsigned int party)
{
	static const char *const names[DBPROF_PARTIES] = {
		[DBPROF_PARTY_WORKER] = "other_worker", [DBPROF_PARTY_MERGER] = "merger",
		[DBPROF_PARTY_THREAD] = "io_thread",	[DBPROF_PARTY_OTHER] = "other_process",
		[DBPROF_PARTY_KERNEL] = "kernel",
	};

	return names[party < DBPROF_PARTIES ? party : DBPROF_PARTY_KERNEL];
}

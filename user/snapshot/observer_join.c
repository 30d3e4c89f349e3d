// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes that come into a window that is open, and go before it ends. */
#include "snapshot/observer_internal.h"

int observer__join(struct observer *observer, uint64_t *ret_start)
{
	int err;

	learn__refresh(observer);
	err = session__join(observer->session, observer->target->pid, &observer->process,
			    ret_start);
	return err ? err : observer__mark_begin(observer);
}

void observer__detach(struct observer *observer)
{
	if (!observer->session)
		return;
	for (size_t i = 0; i < observer->told_workers; i++)
		session__remove_worker(observer->session, observer->workers[i].engine->tid);
	session__remove(observer->session, observer->target->pid);
	observer->session = NULL;
}

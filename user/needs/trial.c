// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel side at work for a moment, on nobody but ourselves. */
#include <linux/capability.h>
#include <string.h>

#include "needs/calls.h"
#include "needs/needs.h"
#include "session/privileges.h"
#include "session/session.h"

#define FREQUENCY_HZ 1

/* Why it is of no use to try; NULL when it is. */
static const char *hindrance(void)
{
	uint64_t mask = 0;

	if (privileges__effective(&mask) || !privileges__has(mask, CAP_BPF) ||
	    !privileges__has(mask, CAP_PERFMON))
		return "to try it takes CAP_BPF and CAP_PERFMON";
	if (call__try(CALL_BPF) || call__try(CALL_PERF_EVENT_OPEN))
		return "a system call that it takes is refused";
	return NULL;
}

static int refused(struct need_list *needs, const char *name, const char *lost,
		   const struct fail *fail)
{
	return needs__add(needs, NEED_TRIAL, name, NEED_MISSING, lost,
			  "see what else is missing; if nothing is, a security module (SELinux, "
			  "AppArmor) may forbid it, and the kernel's log says so",
			  "%s", fail->text);
}

static int report_probes(struct need_list *needs, const struct session *session)
{
	struct dbprof_trap trap = session__trap(session);
	bool multi = !strcmp(session__uprobe_kind(session), "uprobe_multi");

	return needs__add(needs, NEED_TRIAL, "uprobe_multi", multi ? NEED_OK : NEED_DEGRADED,
			  "probes are perf uprobes: they need CAP_SYS_ADMIN, and are hit in all "
			  "processes of the same file",
			  "use Linux 6.10 or newer",
			  multi ? "a probe was hit, and took %u ns"
				: "not in this kernel; a perf "
				  "uprobe was hit, and took %u ns",
			  trap.enter_ns + trap.leave_ns);
}

static int try_sampler(struct need_list *needs, struct session *session)
{
	struct fail fail = { 0 };

	if (session__sample(session, FREQUENCY_HZ, &fail))
		return refused(needs, "perf events", "sampled mode has no samples", &fail);
	return needs__add(needs, NEED_TRIAL, "perf events", NEED_OK, NULL, NULL,
			  "the sampler runs on all CPUs");
}

int needs__check_trial(struct need_list *needs)
{
	const struct session_options options = { .max_threads = 64,
						 .max_circuits = 64,
						 .max_operators = 64 };
	const char *why = hindrance();
	struct session *session = NULL;
	struct fail fail = { 0 };
	int err;

	if (why)
		return needs__add(needs, NEED_TRIAL, "BPF programs", NEED_UNCHECKED, NULL, NULL,
				  "%s", why);
	if (session__open(&options, &session, &fail) || session__load(session, &fail)) {
		err = refused(needs, "BPF programs", "profiling does not work", &fail);
		session__free(session);
		return err;
	}
	err = needs__add(needs, NEED_TRIAL, "BPF programs", NEED_OK, NULL, NULL,
			 "loaded, and attached to the scheduler");
	if (!err)
		err = report_probes(needs, session);
	if (!err)
		err = try_sampler(needs, session);
	session__free(session);
	return err;
}

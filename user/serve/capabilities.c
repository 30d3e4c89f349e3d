// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>

#include "serve/capabilities.h"

/* As in the unit (deploy/systemd): probes and programs, memory of pipelines, their files in /proc.
 */
static const unsigned int needed[] = { CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH };

static bool is_needed(unsigned int capability, bool perf_uprobes)
{
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i] == capability)
			return true;
	return perf_uprobes && capability == CAP_SYS_ADMIN;
}

static bool keep(unsigned int capability)
{
	return !capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, capability);
}

int capabilities__drop(bool perf_uprobes, struct fail *fail)
{
	bool had[CAP_LAST_CAP + 1] = {}, bounded, more = false;

	if (capng_get_caps_process())
		return fail__set(fail, -EPERM, "the daemon's capabilities cannot be read");
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++) {
		had[i] = capng_have_capability(CAPNG_PERMITTED, i);
		more |= had[i] && !is_needed(i, perf_uprobes);
	}
	/* Who was given no more may not be allowed to give up anything either, as under the unit.
	 */
	if (!more)
		return 0;
	bounded = had[CAP_SETPCAP];
	capng_clear(bounded ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS);
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		if (had[i] && is_needed(i, perf_uprobes) && !keep(i))
			return fail__set(fail, -EPERM, "capabilities cannot be chosen");
	if (capng_apply(bounded ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS))
		return fail__set(fail, -EPERM, "capabilities cannot be given up: %s",
				 strerror(errno));
	/* Neither by a program with file capabilities. */
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

void capabilities__write(struct json_writer *json)
{
	json__member_array_begin(json, "capabilities");
	if (!capng_get_caps_process())
		for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
			if (capng_have_capability(CAPNG_EFFECTIVE, i))
				json__string(json, capng_capability_to_name(i));
	json__array_end(json);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>

#include "session/privileges.h"

int privileges__effective(uint64_t *ret_mask)
{
	FILE *status = fopen("/proc/self/status", "re");
	unsigned long long mask;
	char line[256];
	int err = -ENODATA;

	if (!status)
		return -errno;
	while (err && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "CapEff: %llx", &mask) == 1) {
			*ret_mask = mask;
			err = 0;
		}
	}
	fclose(status);
	return err;
}

bool privileges__has(uint64_t mask, unsigned int capability)
{
	bool split = capability == CAP_BPF || capability == CAP_PERFMON;

	return mask >> capability & 1 || (split && mask >> CAP_SYS_ADMIN & 1);
}

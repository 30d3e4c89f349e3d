// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "export/cost.h"

uint64_t cost__total_ns(const struct snapshot_cost *cost)
{
	uint64_t total;

	if (__builtin_mul_overflow(cost->traps, cost->trap_ns, &total) ||
	    __builtin_add_overflow(total, cost->program_ns, &total) ||
	    __builtin_add_overflow(total, cost->own_cpu_ns, &total))
		return UINT64_MAX;
	return total;
}

bool cost__share(const struct snapshot_cost *cost, double *ret_share)
{
	if (cost->target_cpu_ns == 0)
		return false;
	*ret_share = (double)cost__total_ns(cost) / (double)cost->target_cpu_ns;
	return true;
}

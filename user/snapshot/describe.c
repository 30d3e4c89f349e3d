// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What others may know of an observer, in numbers and in words. */
#include <stdio.h>

#include "snapshot/observer_internal.h"

static const char *steps_in_words(const struct plan *plan)
{
	if (plan->polled_functions)
		return "; every poll of a step is probed";
	return plan->event_functions ? "; steps are probed at their events" : "";
}

static const char *slots_in_words(const struct observer *observer)
{
	if (observer->mode == MODE_WAITS)
		return "";
	if (observer__has_slot(observer))
		return "; operators are told by the stack";
	return observer->learning ? "; how the stack tells operators is being learned"
				  : "; the stack does not tell operators";
}

void observer__describe(const struct observer *observer, char *text, size_t size)
{
	const struct elf_image *image = observer->target->image;
	const struct plan *plan = &observer->plan;
	bool probes = observer->mode != MODE_ENGINE;
	size_t emulated = 0;

	for (size_t i = 0; i < plan->probe_count; i++)
		emulated += plan->probes[i].emulated;
	snprintf(text, size,
		 "%s mode, %s, dbsp %s, rustc %s, layout from %s%s; %zu workers; %zu probes by %s, "
		 "%zu of them emulated by the kernel, %zu failed, a trap costs %u + %u ns%s%s",
		 snapshot_mode__name(observer->mode), observer->target->exe,
		 elf_image__dbsp_version(image), elf_image__rustc_version(image),
		 observer->layout.source, observer->layout.exact ? "" : " (the nearest)",
		 observer->worker_count, probes ? plan->probe_count : 0,
		 observer->uprobe_kind ? observer->uprobe_kind : "none", probes ? emulated : 0,
		 observer->failed_probes, observer->trap.enter_ns, observer->trap.leave_ns,
		 steps_in_words(plan), slots_in_words(observer));
}

uint64_t observer__start_ticks(const struct observer *observer)
{
	return observer->target->start_ticks;
}

size_t observer__unread(const struct observer *observer)
{
	return observer->unread_workers;
}

const char *observer__exe(const struct observer *observer)
{
	return observer->target->exe;
}

const char *observer__dbsp_version(const struct observer *observer)
{
	return elf_image__dbsp_version(observer->target->image);
}

const char *observer__layout(const struct observer *observer)
{
	return observer->layout.source;
}

const char *observer__pipeline(const struct observer *observer)
{
	const char *id = observer->target->names.id;

	return id ? id : "";
}

const char *observer__pipeline_name(const struct observer *observer)
{
	const char *name = observer->target->names.name;

	return name ? name : "";
}

pid_t observer__pid(const struct observer *observer)
{
	return observer->target->pid;
}

bool observer__alive(const struct observer *observer)
{
	return target__alive(observer->target);
}

size_t observer__workers(const struct observer *observer)
{
	return observer->worker_count;
}

enum snapshot_mode observer__mode(const struct observer *observer)
{
	return observer->mode;
}

size_t observer__nodes(const struct observer *observer)
{
	size_t nodes = 0;

	for (size_t i = 0; i < observer->worker_count; i++)
		nodes += observer->workers[i].engine->graph->node_count;
	return nodes;
}

const char *observer__missing(const struct observer *observer)
{
	return observer->missing;
}

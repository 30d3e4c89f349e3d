// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Steps by the events that the engine logs: `log_scheduler_event(&SchedulerEvent::step_start(id))`
 * is inlined, but the event has to be put on the stack, with a tag that is a rare constant.
 */
#include <errno.h>
#include <stdbool.h>

#include "plan/step_code.h"

#define NEAR 24 /* instructions in which an event is put together */

static bool stores_tag(const struct code_insn *insn, const struct event_layout *layout,
		       uint64_t value)
{
	return insn->data == CODE_STORE_VALUE && insn->size == layout->tag_size &&
	       (uint32_t)insn->value == (uint32_t)value && insn->index == CODE_NO_REG &&
	       (insn->base == CODE_RSP || insn->base == CODE_RBP);
}

static bool stores_pointer(const struct code_insn *insn, uint8_t base, int64_t offset)
{
	return insn->data == CODE_STORE && insn->size == 8 && insn->base == base &&
	       insn->index == CODE_NO_REG && insn->disp == offset;
}

/* Whether the instruction runs whenever the ones before it in the list did. */
static bool goes_on(const struct code_insn *insn)
{
	return insn->flow == CODE_NEXT;
}

/* The pointer may be stored before or after the tag, but before the probe. */
static bool has_pointer(const struct code *code, size_t tag, size_t probe, uint8_t base,
			int64_t offset)
{
	for (size_t i = tag; i-- > 0 && tag - i <= NEAR && goes_on(&code->insns[i]);)
		if (stores_pointer(&code->insns[i], base, offset))
			return true;
	for (size_t i = tag + 1; i < probe; i++)
		if (stores_pointer(&code->insns[i], base, offset))
			return true;
	return false;
}

static bool find_site(const struct code *code, const struct event_layout *layout, size_t tag,
		      uint64_t circuit, struct event_site *ret_site)
{
	const struct code_insn *store = &code->insns[tag];
	int64_t offset = store->disp - (int64_t)layout->tag + (int64_t)circuit;

	if (offset < INT32_MIN || offset > INT32_MAX)
		return false;
	for (size_t i = tag + 1; i < code->count && i - tag <= NEAR; i++) {
		const struct code_insn *insn = &code->insns[i];

		/* A push would move the stack pointer that the offset counts from. */
		if (insn->emulated && insn->flow != CODE_NEXT) {
			if (!has_pointer(code, tag, i, store->base, offset))
				return false;
			*ret_site =
				(struct event_site){ insn->address, store->base, (int32_t)offset };
			return true;
		}
		if (!goes_on(insn) || insn->writes >> store->base & 1)
			return false;
	}
	return false;
}

static int find_sites(const struct code *code, const struct event_layout *layout, uint64_t value,
		      uint64_t circuit, struct event_site *sites, size_t *count)
{
	for (size_t i = 0; i < code->count; i++) {
		if (!stores_tag(&code->insns[i], layout, value))
			continue;
		if (*count == EVENT_SITES_MAX ||
		    !find_site(code, layout, i, circuit, &sites[*count]))
			return -ENOENT;
		++*count;
	}
	return *count ? 0 : -ENOENT;
}

int step_code__find_events(const struct code *code, const struct event_layout *layout,
			   struct event_code *ret_events)
{
	struct event_code events = {};
	int err = find_sites(code, layout, layout->start_value, layout->start_circuit,
			     events.begins, &events.begin_count);

	if (!err)
		err = find_sites(code, layout, layout->end_value, layout->end_circuit, events.ends,
				 &events.end_count);
	if (!err)
		*ret_events = events;
	return err;
}

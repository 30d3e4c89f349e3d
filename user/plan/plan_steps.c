// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where steps are probed. */
#include <errno.h>
#include <string.h>

#include "plan/code.h"
#include "plan/plan_internal.h"
#include "plan/step_code.h"

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/*
 * Poll functions of `step` futures. Legacy names end in `::step::{{closure}}`, v0 names in
 * `::step::<..>::{closure#0}` with the circuit's type in between.
 */
static int collect_step(const struct elf_symbol *symbol, void *arg)
{
	struct functions *functions = arg;
	const char *name = symbol->demangled;
	size_t before = functions->count;

	if (strstr(name, "drop_in_place") || !strstr(name, "dynamic_scheduler"))
		return 0;
	if (!ends_with(name, "{{closure}}") && !ends_with(name, "{closure#0}"))
		return 0;
	if (!strstr(name, "::step::"))
		return 0;
	functions__collect(symbol, arg);
	if (functions->count > before)
		functions->list[before].inner = strstr(name, "dynamic_scheduler::Inner") != NULL &&
						!strstr(name, "DynamicScheduler");
	return 0;
}

static uint64_t place_cookie(const struct step_probe *probe, uint64_t circuit)
{
	uint8_t place = planner__place(probe->future.reg);

	if (probe->future.reg == CODE_NO_REG)
		return DBPROF_COOKIE(DBPROF_ON_STACK, circuit, probe->future.stack_offset);
	return place == PLAN_NO_PLACE ? UINT64_MAX : DBPROF_COOKIE(place, circuit, 0);
}

/* Probes on the paths of the first and the last poll. Adds all or nothing. */
static int add_step_paths(struct planner *planner, const struct step_code *step, uint64_t circuit)
{
	size_t before = planner->plan->probe_count;
	uint64_t cookie = place_cookie(&step->begin, circuit);
	int err = cookie == UINT64_MAX ? -ENOENT : 0;

	if (!err)
		err = planner__add_probe(planner, PLAN_STEP_BEGIN, step->begin.address, cookie,
					 true);
	for (size_t i = 0; !err && i < step->end_count; i++) {
		cookie = place_cookie(&step->ends[i], circuit);
		if (cookie == UINT64_MAX)
			err = -ENOENT;
		else
			err = planner__add_probe(planner, PLAN_STEP_END, step->ends[i].address,
						 cookie, true);
	}
	if (err)
		planner->plan->probe_count = before;
	return err;
}

static int add_step_polls(struct planner *planner, const struct function *function,
			  const struct step_code *step, uint64_t circuit)
{
	unsigned int place = step->future_reg == CODE_RDI ? DBPROF_IN_RDI : DBPROF_IN_RSI;
	uint64_t cookie = DBPROF_COOKIE(place, circuit, step->state_offset);
	size_t before = planner->plan->probe_count;
	bool emulated;
	uint64_t address = planner__entry_address(planner, function, &emulated);
	int err;

	err = planner__add_probe(planner, PLAN_POLL_ENTER, address, cookie, emulated);
	/* A return probe replaces the return address, so it has to stand on the very first byte. */
	if (!err)
		err = planner__add_probe(planner, PLAN_POLL_LEAVE, function->address, cookie,
					 false);
	if (err)
		planner->plan->probe_count = before;
	return err;
}

static int add_event_sites(struct planner *planner, enum plan_probe_kind kind,
			   const struct event_site *sites, size_t count)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++) {
		unsigned int place = sites[i].base == CODE_RBP ? DBPROF_EVENT_RBP
							       : DBPROF_EVENT_RSP;

		err = planner__add_probe(planner, kind, sites[i].address,
					 DBPROF_COOKIE(place, 0, (uint32_t)sites[i].offset), true);
	}
	return err;
}

static int add_step_events(struct planner *planner, const struct code *code)
{
	const struct layout *layout = planner->layout;
	const struct event_layout event = {
		.tag = layout__get(layout, LAYOUT_EVENT_TAG),
		.tag_size = layout__get(layout, LAYOUT_EVENT_TAGSIZE),
		.start_value = layout__get(layout, LAYOUT_EVENT_IS_STEP_START),
		.end_value = layout__get(layout, LAYOUT_EVENT_IS_STEP_END),
		.start_circuit = layout__get(layout, LAYOUT_EVENT_START_CIRCUIT),
		.end_circuit = layout__get(layout, LAYOUT_EVENT_END_CIRCUIT),
	};
	size_t before = planner->plan->probe_count;
	struct event_code events;
	int err;

	if (event.tag > UINT16_MAX || event.tag_size > 8 || event.start_value == LAYOUT_ABSENT ||
	    event.end_value == LAYOUT_ABSENT || event.start_circuit > UINT16_MAX ||
	    event.end_circuit > UINT16_MAX)
		return -ENODATA;
	err = step_code__find_events(code, &event, &events);
	if (!err)
		err = add_event_sites(planner, PLAN_STEP_BEGIN, events.begins, events.begin_count);
	if (!err)
		err = add_event_sites(planner, PLAN_STEP_END, events.ends, events.end_count);
	if (err)
		planner->plan->probe_count = before;
	else
		planner->plan->event_functions++;
	return err;
}

/*
 * With the engine's own profiler on, a step lies between the clocks that it reads where the events
 * are logged, and what it notes down after them, which takes a microsecond, is neither step nor
 * idle: idle begins on the path of the last poll.
 */
static int add_profiled_events(struct planner *planner, const struct code *code,
			       const struct step_code *paths)
{
	int err = add_step_events(planner, code);

	for (size_t i = 0; !err && paths && i < paths->end_count; i++)
		err = planner__add_probe(planner, PLAN_STEP_LEFT, paths->ends[i].address, 0, true);
	return err;
}

static bool allows(const struct planner *planner, enum plan_steps steps)
{
	return planner->options->steps == PLAN_STEPS_AUTO || planner->options->steps == steps;
}

static int add_step_function(struct planner *planner, const struct function *function)
{
	uint64_t circuit = layout__get(planner->layout, LAYOUT_STEP_CIRCUIT);
	struct step_code step = { .future_reg = CODE_RSI };
	struct code *code = NULL;
	int err, state, paths;

	if (circuit == LAYOUT_ABSENT || circuit >= 1U << 24)
		return -ENODATA;
	err = code__decode(planner->image, function->address, function->size, &code);
	if (err)
		return err;
	state = step_code__find_state(code, &step);
	paths = state ? state : step_code__find_paths(planner->image, code, &step);
	err = -ENOENT;
	if (planner->options->profiled && allows(planner, PLAN_STEPS_AUTO))
		err = add_profiled_events(planner, code, paths ? NULL : &step);
	if (err && !paths && allows(planner, PLAN_STEPS_PATHS))
		err = add_step_paths(planner, &step, circuit);
	if (err && allows(planner, PLAN_STEPS_EVENTS))
		err = add_step_events(planner, code);
	if (err && !state && allows(planner, PLAN_STEPS_POLLS)) {
		err = add_step_polls(planner, function, &step, circuit);
		if (!err)
			planner->plan->polled_functions++;
	}
	code__free(code);
	return err;
}

static bool contains(const struct functions *functions, bool inner, uint64_t address)
{
	for (size_t i = 0; i < functions->count; i++)
		if (functions->list[i].inner == inner && functions->list[i].address == address)
			return true;
	return false;
}

/* Whether @outer calls an Inner::step of its own, which then is what has to be probed. */
static bool calls_inner(const struct planner *planner, const struct functions *functions,
			const struct function *outer)
{
	struct code *code = NULL;
	bool calls = false;

	if (code__decode(planner->image, outer->address, outer->size, &code))
		return false;
	for (size_t i = 0; i < code->count && !calls; i++)
		calls = code->insns[i].flow == CODE_CALL && code->insns[i].target &&
			contains(functions, true, code->insns[i].target);
	code__free(code);
	return calls;
}

void planner__add_steps(struct planner *planner)
{
	struct functions functions = {};

	elf_image__each_symbol(planner->image, "::step::", collect_step, &functions);
	for (size_t i = 0; i < functions.count; i++) {
		const struct function *function = &functions.list[i];

		if (!function->inner && calls_inner(planner, &functions, function))
			continue;
		if (add_step_function(planner, function))
			planner->plan->missing_functions++;
		else
			planner->plan->step_functions++;
	}
}

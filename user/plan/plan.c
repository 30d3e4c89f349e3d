// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/code.h"
#include "plan/plan_internal.h"
#include "plan/step_code.h"

#define ENTRY_BYTES 32 /* enough for endbr64 and the first push */

const char *plan_probe_kind__name(enum plan_probe_kind kind)
{
	static const char *const names[PLAN_PROBE_KINDS] = {
		[PLAN_PARK] = "park",
		[PLAN_UNPARK] = "unpark",
		[PLAN_STEP_BEGIN] = "step begin",
		[PLAN_STEP_END] = "step end",
		[PLAN_POLL_ENTER] = "poll of a step",
		[PLAN_POLL_LEAVE] = "return from a poll of a step",
		[PLAN_EXACT] = "end of an evaluation",
		[PLAN_TASK_ENTRY] = "entry of a task",
	};

	return (unsigned int)kind < PLAN_PROBE_KINDS ? names[kind] : "?";
}

int planner__add_probe(struct planner *planner, enum plan_probe_kind kind, uint64_t address,
		       uint64_t cookie, bool emulated)
{
	struct plan *plan = planner->plan;
	struct plan_probe probe = {
		.kind = kind, .address = address, .cookie = cookie, .emulated = emulated
	};
	int err = elf_image__file_offset(planner->image, address, &probe.file_offset);

	if (err)
		return err;
	for (size_t i = 0; i < plan->probe_count; i++)
		if (plan->probes[i].kind == kind && plan->probes[i].address == address)
			return 0;
	if (plan->probe_count == PLAN_PROBES_MAX)
		return -E2BIG;
	plan->probes[plan->probe_count++] = probe;
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

int functions__collect(const struct elf_symbol *symbol, void *arg)
{
	struct functions *functions = arg;

	if (!symbol->is_function || !symbol->size || functions->count == PLAN_FUNCTIONS_MAX)
		return 0;
	/* Equal functions may be folded into one that has several names. */
	for (size_t i = 0; i < functions->count; i++)
		if (functions->list[i].address == symbol->value)
			return 0;
	functions->list[functions->count++] =
		(struct function){ symbol->value, symbol->size, false };
	return 0;
}

static int collect_named(const struct elf_symbol *symbol, void *arg)
{
	/* Not drop_in_place<..::park::{{closure}}> and the like. */
	if (strstr(symbol->demangled, "drop_in_place") || strchr(symbol->demangled, '{'))
		return 0;
	return functions__collect(symbol, arg);
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

uint64_t planner__entry_address(const struct planner *planner, const struct function *function,
				bool *ret_emulated)
{
	size_t size = function->size < ENTRY_BYTES ? function->size : ENTRY_BYTES;
	uint64_t address = function->address;
	struct code *code = NULL;

	*ret_emulated = false;
	/* The last instruction may be cut; what was decoded before it is kept out of caution. */
	while (size && code__decode(planner->image, function->address, size, &code))
		size--;
	for (size_t i = 0; code && i < code->count && i < 4; i++) {
		if (code->insns[i].emulated && code->insns[i].flow == CODE_NEXT) {
			address = code->insns[i].address;
			*ret_emulated = true;
			break;
		}
		/* The arguments must still be in place: only endbr64 may come first. */
		if (code->insns[i].writes)
			break;
	}
	code__free(code);
	return address;
}

static void add_entries(struct planner *planner, const char *name, enum plan_probe_kind kind)
{
	struct functions functions = {};

	elf_image__each_symbol(planner->image, name, collect_named, &functions);
	for (size_t i = 0; i < functions.count; i++) {
		bool emulated;
		uint64_t address = planner__entry_address(planner, &functions.list[i], &emulated);

		planner__add_probe(planner, kind, address, 0, emulated);
	}
}

static bool has_probe(const struct plan *plan, enum plan_probe_kind kind)
{
	for (size_t i = 0; i < plan->probe_count; i++)
		if (plan->probes[i].kind == kind)
			return true;
	return false;
}

uint8_t planner__place(uint8_t reg)
{
	static const uint8_t places[CODE_REGS] = {
		[CODE_RBX] = 1 + DBPROF_IN_RBX, [CODE_RBP] = 1 + DBPROF_IN_RBP,
		[CODE_R12] = 1 + DBPROF_IN_R12, [CODE_R13] = 1 + DBPROF_IN_R13,
		[CODE_R14] = 1 + DBPROF_IN_R14, [CODE_R15] = 1 + DBPROF_IN_R15,
		[CODE_RSI] = 1 + DBPROF_IN_RSI, [CODE_RDI] = 1 + DBPROF_IN_RDI,
	};

	return reg < CODE_REGS && places[reg] ? places[reg] - 1 : PLAN_NO_PLACE;
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

static bool allows(const struct planner *planner, enum plan_steps steps)
{
	return planner->steps == PLAN_STEPS_AUTO || planner->steps == steps;
}

static int add_step_function(struct planner *planner, const struct function *function)
{
	uint64_t circuit = layout__get(planner->layout, LAYOUT_STEP_CIRCUIT);
	struct step_code step = { .future_reg = CODE_RSI };
	struct code *code = NULL;
	int err, state;

	if (circuit == LAYOUT_ABSENT || circuit >= 1U << 24)
		return -ENODATA;
	err = code__decode(planner->image, function->address, function->size, &code);
	if (err)
		return err;
	state = step_code__find_state(code, &step);
	err = -ENOENT;
	if (!state && allows(planner, PLAN_STEPS_PATHS)) {
		err = step_code__find_paths(planner->image, code, &step);
		if (!err)
			err = add_step_paths(planner, &step, circuit);
	}
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

static void add_steps(struct planner *planner)
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

static int found_tls(const struct elf_symbol *symbol, void *arg)
{
	if (!symbol->is_tls)
		return 0;
	*(uint64_t *)arg = symbol->value;
	return 1;
}

static uint64_t tls_distance(const struct planner *planner, const char *name)
{
	uint64_t offset, distance;

	if (!elf_image__each_symbol(planner->image, name, found_tls, &offset))
		return 0;
	return elf_image__tls_distance(planner->image, offset, &distance) ? 0 : distance;
}

bool planner__small_offset(const struct planner *planner, enum layout_item item, __u32 *ret)
{
	uint64_t value = layout__get(planner->layout, item);

	if (value == LAYOUT_ABSENT || value > 1U << 20)
		return false;
	*ret = (__u32)value;
	return true;
}

static int add_process(struct planner *planner, struct fail *fail)
{
	struct dbprof_process *process = &planner->plan->process;

	if (!planner__small_offset(planner, LAYOUT_ARC_DATA, &process->arc_data) ||
	    !planner__small_offset(planner, LAYOUT_CHILD_CIRCUIT_INNER, &process->circuit_inner) ||
	    !planner__small_offset(planner, LAYOUT_IDLE_PARK_START, &process->idle_park_start) ||
	    !planner__small_offset(planner, LAYOUT_IDLE_PARK_REASON, &process->idle_park_reason))
		return fail__set(fail, -ENOENT,
				 "the layout lacks what the probes need; make a new one "
				 "with `dbprof-bpf layout BINARY`");
	process->parking_tls = tls_distance(planner, "cpu::PARKING_FOR");
	process->blocking_tls = tls_distance(planner, "cpu::BLOCKING_DEPTH");
	planner->plan->reasons = process->parking_tls != 0;
	planner->plan->blocking = process->blocking_tls != 0;
	return 0;
}

int plan__make(const struct elf_image *image, const struct layout *layout, enum plan_steps steps,
	       bool exact, struct plan *ret_plan, struct fail *fail)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	struct planner planner = { image, layout, steps, exact, plan };
	int err;

	if (!plan)
		return -ENOMEM;
	err = add_process(&planner, fail);
	if (err)
		goto out;
	add_entries(&planner, "cpu::RuntimeIdle::park", PLAN_PARK);
	add_entries(&planner, "cpu::RuntimeIdle::unpark", PLAN_UNPARK);
	add_steps(&planner);
	err = planner__add_frames(&planner);
	if (err)
		goto out;
	plan->parks = has_probe(plan, PLAN_PARK) && has_probe(plan, PLAN_UNPARK);
	if (!plan->step_functions)
		err = fail__set(fail, -ENOENT, "%s: the engine's step function was not found%s",
				elf_image__path(image),
				elf_image__has_symbols(image) ? ""
							      : ", since the symbols are stripped");
	else
		*ret_plan = *plan;
out:
	free(plan);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/code.h"
#include "plan/plan_internal.h"

#define ENTRY_BYTES 32 /* enough for endbr64 and the first push */

const char *plan_probe_kind__name(enum plan_probe_kind kind)
{
	static const char *const names[PLAN_PROBE_KINDS] = {
		[PLAN_PARK] = "park",
		[PLAN_UNPARK] = "unpark",
		[PLAN_STEP_BEGIN] = "step begin",
		[PLAN_STEP_END] = "step end",
		[PLAN_STEP_LEFT] = "step left",
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

int plan__make(const struct elf_image *image, const struct layout *layout,
	       const struct plan_options *options, struct plan *ret_plan, struct fail *fail)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	struct planner planner = { image, layout, options, plan };
	int err;

	if (!plan)
		return -ENOMEM;
	err = add_process(&planner, fail);
	if (err)
		goto out;
	/* Exact probes cost enough: the engine's sums are as exact as its times of operators. */
	if (!options->exact || !options->totals) {
		add_entries(&planner, "cpu::RuntimeIdle::park", PLAN_PARK);
		add_entries(&planner, "cpu::RuntimeIdle::unpark", PLAN_UNPARK);
	}
	planner__add_steps(&planner);
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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Code: that of the test pipeline's functions (DBPROF_FUZZ_ELF) with faults, which is decoded and
 * planned for, with the layout that is built in.
 */
#include <errno.h>

#include "layout/layout.h"
#include "patches.h"
#include "plan/plan.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *base;
static size_t base_size;
static struct focus focus[FOCUS_PARTS];
static struct layout layout;

/* Where the functions end in the file. */
static size_t code_end(void)
{
	return focus__section(base, ".rodata").start - sizeof(Elf64_Ehdr);
}

/* Without a fault there is a place for all probes. */
static bool is_whole(const struct elf_image *image)
{
	const struct plan_options options = { .exact = true };
	struct plan *plan = calloc(1, sizeof(*plan));
	bool whole = plan && !plan__make(image, &layout, &options, plan, NULL) && plan->parks &&
		     plan->reasons && plan->frame_count && !plan->frames_missing &&
		     !plan->exact_missing && !plan->missing_functions;

	free(plan);
	return whole;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct elf_image *image;
	char path[64];
	int fd;

	(void)argc;
	(void)argv;
	base = fuzz__base("DBPROF_FUZZ_ELF", &base_size);
	/* The code lies before its constants and tables. */
	focus[0] = focus[1] = (struct focus){ sizeof(Elf64_Ehdr), code_end() };
	focus[2] = focus__section(base, ".symtab");
	fd = fuzz__file(base, base_size, path);
	if (elf_image__open(path, &image, NULL) || layout__choose(image, NULL, &layout, NULL) ||
	    !is_whole(image))
		exit(2);
	elf_image__close(image);
	close(fd);
	return 0;
}

/* What a plan promises to whoever attaches its probes. */
static void check(const struct elf_image *image, const struct plan *plan)
{
	uint64_t offset;

	if (plan->probe_count > PLAN_PROBES_MAX || plan->frame_count > PLAN_FRAMES_MAX)
		abort();
	for (size_t i = 0; i < plan->probe_count; i++)
		if (elf_image__file_offset(image, plan->probes[i].address, &offset) ||
		    offset != plan->probes[i].file_offset)
			abort();
}

static void make(const struct elf_image *image, const struct plan_options *options)
{
	struct plan *plan = malloc(sizeof(*plan));
	struct fail fail = { 0 };
	int err;

	if (!plan)
		exit(2);
	err = plan__make(image, &layout, options, plan, &fail);
	if (!err)
		check(image, plan);
	else if (err != -ENOMEM && !fail.text[0])
		abort();
	free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct plan_options options = {
		.steps = size ? (enum plan_steps)(data[0] % 4) : PLAN_STEPS_AUTO,
		.exact = size > 1 && data[1] % 2,
		.profiled = size > 2 && data[2] % 2,
	};
	struct elf_image *image;
	char path[64];
	size_t len;
	uint8_t *file = fuzz__faulty(base, base_size, focus, data, size, &len);
	int fd = fuzz__file(file, len, path);

	if (!elf_image__open(path, &image, NULL)) {
		make(image, &options);
		elf_image__close(image);
	}
	close(fd);
	free(file);
	return 0;
}

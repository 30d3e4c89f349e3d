// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ELF files: a part of the test pipeline (DBPROF_FUZZ_ELF) with faults, or the input itself. */
#include "patches.h"
#include "target/elf_image.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *base;
static size_t base_size;
static struct focus focus[FOCUS_PARTS];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct elf_image *image;
	char path[64];
	int fd;

	(void)argc;
	(void)argv;
	base = fuzz__base("DBPROF_FUZZ_ELF", &base_size);
	/* The headers of both kinds, and what they lead to. */
	focus[0] = (struct focus){ 0, 64 + 56 };
	focus[1] = (struct focus){ base_size - 8 * sizeof(Elf64_Shdr), 8 * sizeof(Elf64_Shdr) };
	focus[2] = focus__section(base, ".symtab");
	fd = fuzz__file(base, base_size, path);
	if (elf_image__open(path, &image, NULL) || !elf_image__dbsp_version(image)[0] ||
	    !elf_image__rustc_version(image)[0] || !elf_image__build_id(image)[0] ||
	    !elf_image__has_symbols(image))
		exit(2);
	elf_image__close(image);
	close(fd);
	return 0;
}

/* What is told of a symbol must hold together. */
static int visit(const struct elf_symbol *symbol, void *arg)
{
	const struct elf_image *image = arg;
	uint64_t offset, distance;
	size_t len = 64;

	if (strlen(symbol->name) > INT32_MAX || strlen(symbol->demangled) > INT32_MAX)
		abort();
	if (symbol->is_tls)
		elf_image__tls_distance(image, symbol->value, &distance);
	else if (!elf_image__file_offset(image, symbol->value, &offset))
		elf_image__bytes(image, symbol->value, &len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool raw = size > 4 && !memcmp(data, "\177ELF", 4);
	struct elf_image *image;
	struct fail fail = { 0 };
	size_t len = size;
	char path[64];
	uint8_t *file = raw ? NULL : fuzz__faulty(base, base_size, focus, data, size, &len);
	int fd = fuzz__file(raw ? data : file, len, path);

	if (!elf_image__open(path, &image, &fail)) {
		elf_image__each_symbol(image, "cpu::", visit, image);
		elf_image__first_vaddr(image);
		elf_image__close(image);
	} else if (!fail.text[0]) {
		abort();
	}
	close(fd);
	free(file);
	return 0;
}

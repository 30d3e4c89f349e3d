// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Debug info: that of types like the engine's (DBPROF_FUZZ_DWARF) with faults, or the input itself.
 */
#include "layout/layout.h"
#include "patches.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *base;
static size_t base_size;
static struct focus focus[FOCUS_PARTS];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct layout layout;
	struct fail fail = { 0 };
	char path[64];
	int fd;

	(void)argc;
	(void)argv;
	base = fuzz__base("DBPROF_FUZZ_DWARF", &base_size);
	focus[0] = focus__section(base, ".debug_info");
	focus[1] = focus__section(base, ".debug_abbrev");
	focus[2] = focus[0];
	fd = fuzz__file(base, base_size, path);
	/* All types are looked at, and then some are missing, such as those of the hash maps. */
	if (!layout__from_dwarf(path, &layout, &fail) || !strstr(fail.text, "hashbrown"))
		exit(2);
	close(fd);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool raw = size > 4 && !memcmp(data, "\177ELF", 4);
	struct layout layout;
	struct fail fail = { 0 };
	size_t len = size;
	char path[64];
	uint8_t *file = raw ? NULL : fuzz__faulty(base, base_size, focus, data, size, &len);
	int fd = fuzz__file(raw ? data : file, len, path);

	if (layout__from_dwarf(path, &layout, &fail) && !fail.text[0])
		abort();
	close(fd);
	free(file);
	return 0;
}

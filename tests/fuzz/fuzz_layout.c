// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Layout files: whatever they hold, what is taken from them can be written and read again. */
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const struct layout *layout)
{
	struct layout again;
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);

	if (!file)
		return;
	if (layout__write(layout, file))
		abort();
	fclose(file);
	if (layout__from_text(text, len, "again", &again, NULL))
		abort();
	if (memcmp(layout->value, again.value, sizeof(again.value)))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fail fail = { 0 };
	struct layout layout;
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (!layout__from_text(text, size, "fuzz", &layout, &fail))
		check_round_trip(&layout);
	else if (!fail.text[0])
		abort();
	free(text);
	return 0;
}

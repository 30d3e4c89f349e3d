// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "export/export.h"

static const struct exporter exporters[] = {
	{ .name = "json", .extension = "json", .write = export_json },
	{ .name = "openmetrics", .extension = "om", .write = export_openmetrics },
	{ .name = "prometheus", .extension = "prom", .write = export_prometheus },
};

const struct exporter *exporter__all(size_t *ret_count)
{
	*ret_count = sizeof(exporters) / sizeof(exporters[0]);
	return exporters;
}

const struct exporter *exporter__find(const char *name)
{
	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++)
		if (strcmp(exporters[i].name, name) == 0)
			return &exporters[i];
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "export/export.h"

static const struct exporter exporters[] = {
	{ .name = "json", .extension = "json", .write = export_json },
	{ .name = "pprof", .extension = "pb.gz", .write = export_pprof },
	{ .name = "folded", .extension = "folded", .write = export_folded },
	{ .name = "svg", .extension = "svg", .write = export_svg, .check = export_svg__check },
	{ .name = "html", .extension = "html", .write = export_html },
	{ .name = "json-zip", .extension = "zip", .write = export_json_zip },
	{ .name = "bundle", .extension = "zip", .write = export_bundle },
	{ .name = "dot", .extension = "dot", .write = export_dot },
	{ .name = "dot-zip", .extension = "zip", .write = export_dot_zip },
	{ .name = "dot-dir", .extension = "dot.d", .write_folder = export_dot_dir },
	{ .name = "snapshot",
	  .extension = "dbprof",
	  .write = export_snapshot,
	  .window_only = true },
	{ .name = "openmetrics",
	  .extension = "om",
	  .write = export_openmetrics,
	  .window_only = true },
	{ .name = "prometheus",
	  .extension = "prom",
	  .write = export_prometheus,
	  .window_only = true },
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

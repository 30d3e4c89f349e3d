// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's configuration, where it is to be had. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <zlib.h>

#include "needs/needs.h"

#define LINES_MAX 100000 /* some 10000 are usual */

static const char *const wanted[] = {
	"CONFIG_BPF_SYSCALL", "CONFIG_BPF_EVENTS",    "CONFIG_DEBUG_INFO_BTF", "CONFIG_PERF_EVENTS",
	"CONFIG_UPROBES",     "CONFIG_UPROBE_EVENTS", "CONFIG_TRACEPOINTS",    "CONFIG_SCHED_INFO",
};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

/* The first of the places that can be read; gzopen() reads plain files as well. */
static gzFile open_config(char *ret_path, size_t size)
{
	static const char *const places[] = { "/proc/config.gz", "/boot/config-%s",
					      "/lib/modules/%s/config",
					      "/usr/lib/modules/%s/config" };
	struct utsname name;

	if (uname(&name))
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *release = strchr(places[i], '%');
		int before = (int)(release ? release - places[i] : (long)strlen(places[i]));
		gzFile file;

		snprintf(ret_path, size, "%.*s%s%s", before, places[i], release ? name.release : "",
			 release ? release + 2 : "");
		file = gzopen(ret_path, "re");
		if (file)
			return file;
	}
	return NULL;
}

/* Notes the options that the line sets. */
static void read_line(const char *line, bool on[WANTED])
{
	for (size_t i = 0; i < WANTED; i++) {
		size_t len = strlen(wanted[i]);

		if (!strncmp(line, wanted[i], len) && !strncmp(line + len, "=y", 2))
			on[i] = true;
	}
}

int needs__check_options(struct need_list *needs)
{
	static const char remedy[] = "use a kernel that is built with them, as those of the large "
				     "distributions are";
	static const char lost[] = "profiling does not work without them";
	char path[256], line[256], off[NEED_TEXT_MAX] = "";
	bool on[WANTED] = { false };
	gzFile file = open_config(path, sizeof(path));
	int lines = 0;

	if (!file)
		return needs__add(
			needs, NEED_KERNEL, "options", NEED_UNCHECKED, NULL, NULL,
			"the configuration is neither in /proc/config.gz nor in /boot; the "
			"trial below tells as much");
	while (lines++ < LINES_MAX && gzgets(file, line, sizeof(line)))
		read_line(line, on);
	gzclose(file);
	for (size_t i = 0; i < WANTED; i++) {
		if (on[i])
			continue;
		strncat(off, off[0] ? ", " : "", sizeof(off) - strlen(off) - 1);
		strncat(off, wanted[i], sizeof(off) - strlen(off) - 1);
	}
	if (off[0])
		return needs__add(needs, NEED_KERNEL, "options", NEED_MISSING, lost, remedy,
				  "off in %s: %s", path, off);
	return needs__add(needs, NEED_KERNEL, "options", NEED_OK, NULL, NULL, "all %zu are on (%s)",
			  WANTED, path);
}

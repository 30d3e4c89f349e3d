// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/maps.h"
#include "target/proc.h"

#define MAPS_TEXT_MAX (256u << 20) /* vm.max_map_count is 65530 by default; lines are < 4.2 KB */

/* "start-end perms offset major:minor inode   path" (proc_pid_maps(5)). */
static int parse_line(const char *line, struct mapping *ret_mapping)
{
	struct mapping mapping = { 0 };
	char perms[5];
	int used = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n",
		   &mapping.start, &mapping.end, perms, &mapping.offset, &mapping.dev_major,
		   &mapping.dev_minor, &mapping.inode, &used) != 7 ||
	    mapping.start >= mapping.end || strlen(perms) < 3)
		return -EBADMSG;
	mapping.readable = perms[0] == 'r';
	mapping.writable = perms[1] == 'w';
	mapping.executable = perms[2] == 'x';
	while (line[used] == ' ')
		used++;
	mapping.path = strdup(line + used);
	if (!mapping.path)
		return -ENOMEM;
	*ret_mapping = mapping;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* A line that repeats addresses, as when a map changes between two reads, is left out. */
static int parse(char *text, struct mapping **ret_mappings, size_t *ret_count)
{
	struct mapping *mappings = calloc(count_lines(text), sizeof(*mappings));
	char *rest = text, *line;
	size_t count = 0;
	int err;

	if (!mappings)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		err = parse_line(line, &mappings[count]);
		if (err) {
			maps__free(mappings, count);
			return err;
		}
		if (count && mappings[count].start < mappings[count - 1].end)
			free(mappings[count].path);
		else
			count++;
	}
	*ret_mappings = mappings;
	*ret_count = count;
	return 0;
}

int maps__read(int dir, struct mapping **ret_mappings, size_t *ret_count)
{
	char prefix[32], name[64], *text;
	size_t len;
	int err;

	err = proc__living_prefix(dir, prefix, sizeof(prefix));
	if (err)
		return err == -ENODATA ? -ESRCH : err;
	snprintf(name, sizeof(name), "%smaps", prefix);
	err = proc__read(dir, name, MAPS_TEXT_MAX, &text, &len);
	if (err)
		return err;
	err = len ? parse(text, ret_mappings, ret_count) : -ESRCH;
	free(text);
	return err;
}

void maps__free(struct mapping *mappings, size_t count)
{
	size_t i;

	if (!mappings)
		return;
	for (i = 0; i < count; i++)
		free(mappings[i].path);
	free(mappings);
}

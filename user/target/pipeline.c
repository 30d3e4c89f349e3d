// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/pipeline.h"
#include "target/proc.h"

#define OPTION	     "--config-file"
#define PREFIX	     "pipeline-" /* of the name that the runner gives */
#define UUID_LEN     36
#define CMDLINE_MAX  (1u << 20)
#define CONFIG_BYTES 65536 /* both names stand before the connectors */

/* The value of the option in @len bytes of arguments that end with a NUL each; NULL if none. */
static const char *option_value(const char *arguments, size_t len)
{
	const char *end = arguments + len;

	for (const char *arg = arguments; arg < end; arg += strlen(arg) + 1) {
		const char *next = arg + strlen(arg) + 1;

		if (strncmp(arg, OPTION, strlen(OPTION)) != 0)
			continue;
		if (arg[strlen(OPTION)] == '=')
			return arg + strlen(OPTION) + 1;
		if (arg[strlen(OPTION)] == '\0' && next < end)
			return next;
	}
	return NULL;
}

/*
 * The file as the process itself would open it: in a container, links lead to the container's
 * files, not to the host's. Opening must not wait, whatever lies there.
 */
static int open_file(int dir, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int root = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat stat;
	int fd;

	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(root);
	if (fd >= 0 && (fstat(fd, &stat) || !S_ISREG(stat.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* As much of the beginning as matters, ended by a NUL. Returns 0 or a negative errno. */
static int read_begin(int fd, char **ret_text)
{
	char *text = malloc(CONFIG_BYTES + 1);
	size_t len = 0;
	ssize_t n = 1;

	if (!text)
		return -ENOMEM;
	while (len < CONFIG_BYTES && (n = read(fd, text + len, CONFIG_BYTES - len)) > 0)
		len += (size_t)n;
	if (n < 0) {
		n = -errno;
		free(text);
		return (int)n;
	}
	text[len] = '\0';
	*ret_text = text;
	return 0;
}

/* What is in the quotes, of which each can be doubled ('') or escaped ("\""). */
static char *unquoted(const char *from, size_t len)
{
	char quote = *from, *text = malloc(len + 1), *to = text;
	const char *end = from + len;

	for (from++; text && from < end; from++) {
		bool escape = quote == '"' ? *from == '\\' : *from == '\'';

		if (*from == quote && (quote == '"' || from + 1 == end || from[1] != quote))
			break;
		if (escape && from + 1 < end)
			from++;
		*to++ = *from;
	}
	if (text)
		*to = '\0';
	return text;
}

/*
 * The text of "@key: value" on a line of its own at the outermost level, as serde_yaml writes it;
 * NULL when there is none or it is null.
 */
static char *yaml_text(const char *yaml, const char *key)
{
	size_t key_len = strlen(key), len;

	for (const char *line = yaml; *line; line += *line == '\n') {
		const char *value = line + key_len + 1;

		len = strcspn(line, "\n");
		if (len <= key_len + 1 || strncmp(line, key, key_len) != 0 ||
		    line[key_len] != ':') {
			line += len;
			continue;
		}
		len -= key_len + 1;
		for (; len > 0 && isblank((unsigned char)*value); value++)
			len--;
		for (; len > 0 && isspace((unsigned char)value[len - 1]);)
			len--;
		if (len == 0 || (len == 1 && *value == '~') ||
		    (len == 4 && strncmp(value, "null", 4) == 0))
			return NULL;
		return *value == '"' || *value == '\'' ? unquoted(value, len) : strndup(value, len);
	}
	return NULL;
}

static bool is_uuid(const char *text)
{
	size_t i;

	for (i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

/* The UUID behind "pipeline-" in a name or in the path of the file; NULL when there is none. */
static char *id_in(const char *text)
{
	while (text && (text = strstr(text, PREFIX))) {
		text += strlen(PREFIX);
		if (is_uuid(text))
			return strndup(text, UUID_LEN);
	}
	return NULL;
}

static int read_config(int dir, const char *path, struct pipeline_names *names)
{
	char *yaml = NULL, *name;
	int fd = open_file(dir, path), err;

	if (fd < 0)
		return fd;
	err = read_begin(fd, &yaml);
	close(fd);
	if (err)
		return err;
	name = yaml_text(yaml, "name");
	names->id = id_in(name);
	names->name = yaml_text(yaml, "given_name");
	free(name);
	free(yaml);
	return 0;
}

int pipeline_names__read(int dir, struct pipeline_names *ret_names)
{
	struct pipeline_names names = { 0 };
	const char *path;
	char *arguments;
	size_t len;
	int err = proc__read(dir, "cmdline", CMDLINE_MAX, &arguments, &len);

	if (err)
		return err;
	path = option_value(arguments, len);
	/* A path that is not absolute begins at the folder of the start, which may have changed. */
	if (path && *path == '/')
		err = read_config(dir, path, &names);
	if (!names.id)
		names.id = id_in(path);
	free(arguments);
	if (!names.id && !names.name)
		return err ? err : -ENODATA;
	*ret_names = names;
	return 0;
}

void pipeline_names__clear(struct pipeline_names *names)
{
	free(names->id);
	free(names->name);
	*names = (struct pipeline_names){ 0 };
}

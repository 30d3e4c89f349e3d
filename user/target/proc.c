// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/proc.h"

#define THREADS_MAX	(1u << 20)
#define HOST_TIME_INODE 0xEFFFFFFA /* PROC_TIME_INIT_INO, include/linux/proc_ns.h */

static int proc_errno(int err)
{
	/* ENOENT: the directory of a thread that is gone. */
	return err == ENOENT ? -ESRCH : -err;
}

int proc__open(pid_t pid)
{
	char path[32];
	int fd;

	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? proc_errno(errno) : fd;
}

static int read_all(int fd, size_t max, char **ret_text, size_t *ret_len)
{
	size_t size = 4096, len = 0;
	char *text = malloc(size + 1);
	int err = -ENOMEM;

	while (text) {
		ssize_t n = read(fd, text + len, size - len);
		char *bigger;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = -errno;
			break;
		}
		if (n == 0) {
			text[len] = '\0';
			*ret_text = text;
			*ret_len = len;
			return 0;
		}
		len += (size_t)n;
		if (len > max) {
			err = -EFBIG;
			break;
		}
		if (size - len >= 4096)
			continue;
		size *= 2;
		bigger = realloc(text, size + 1);
		if (!bigger)
			break;
		text = bigger;
	}
	free(text);
	return err;
}

int proc__read(int dir, const char *name, size_t max, char **ret_text, size_t *ret_len)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t len;
	int err;

	if (fd < 0)
		return proc_errno(errno);
	err = read_all(fd, max, ret_text, ret_len ? ret_len : &len);
	close(fd);
	return err;
}

static int compare_tids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static int collect_threads(DIR *tasks, pid_t **ret_tids, size_t *ret_count)
{
	size_t count = 0, size = 64;
	pid_t *tids = malloc(size * sizeof(*tids));
	struct dirent *entry;

	if (!tids)
		return -ENOMEM;
	while ((entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (count == size) {
			pid_t *more = NULL;

			if (size < THREADS_MAX)
				more = realloc(tids, 2 * size * sizeof(*tids));
			if (!more) {
				free(tids);
				return -ENOMEM;
			}
			tids = more;
			size *= 2;
		}
		tids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (count == 0) {
		free(tids);
		return -ESRCH;
	}
	qsort(tids, count, sizeof(*tids), compare_tids);
	*ret_tids = tids;
	*ret_count = count;
	return 0;
}

int proc__threads(int dir, pid_t **ret_tids, size_t *ret_count)
{
	int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks;
	int err;

	if (fd < 0)
		return proc_errno(errno);
	tasks = fdopendir(fd);
	if (!tasks) {
		err = -errno;
		close(fd);
		return err;
	}
	err = collect_threads(tasks, ret_tids, ret_count);
	closedir(tasks);
	return err;
}

/* The comm may hold spaces and parentheses: it ends at the last ")" (proc_pid_stat(5)). */
int proc__stat(int dir, const char *name, struct proc_stat *ret_stat)
{
	struct proc_stat stat = { 0 };
	char *text, *open, *close, *field;
	size_t comm_len;
	int err, number;

	err = proc__read(dir, name, 65536, &text, NULL);
	if (err)
		return err;
	err = -EBADMSG;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		goto out;
	comm_len = (size_t)(close - open - 1);
	if (comm_len >= sizeof(stat.comm))
		comm_len = sizeof(stat.comm) - 1;
	memcpy(stat.comm, open + 1, comm_len);
	stat.state = close[2];
	/* The state is field 3, starttime field 22. */
	field = close + 2;
	for (number = 3; number < 22 && field; number++) {
		field = strchr(field, ' ');
		if (field)
			field++;
	}
	if (!field)
		goto out;
	stat.start_ticks = strtoull(field, NULL, 10);
	*ret_stat = stat;
	err = 0;
out:
	free(text);
	return err;
}

int proc__status_number(int dir, const char *key, long *ret_number)
{
	size_t len = strlen(key);
	char *text, *line;
	int err;

	err = proc__read(dir, "status", 65536, &text, NULL);
	if (err)
		return err;
	err = -ENODATA;
	for (line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, key, len) != 0 || line[len] != ':')
			continue;
		*ret_number = strtol(line + len + 1, NULL, 10);
		err = 0;
		break;
	}
	free(text);
	return err;
}

bool proc__clock_differs(int dir, const char *clock)
{
	long long seconds, nanos;
	char *text, *line, name[16];
	bool differs = false;
	struct stat file;

	/* The offsets are those of its children's namespace, which mostly is its own. */
	if (fstatat(dir, "ns/time", &file, 0) || file.st_ino == HOST_TIME_INODE ||
	    proc__read(dir, "timens_offsets", 4096, &text, NULL))
		return false;
	for (line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%15s %lld %lld", name, &seconds, &nanos) == 3 &&
		    (!clock || !strcmp(name, clock)))
			differs |= seconds || nanos;
	}
	free(text);
	return differs;
}

/* 1 when there is a first line of maps, 0 when there is none, or a negative errno. */
static int has_memory(int dir, const char *prefix)
{
	char name[64], byte;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%smaps", prefix);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return proc_errno(errno);
	n = read(fd, &byte, 1);
	if (n < 0)
		n = proc_errno(errno);
	close(fd);
	return (int)n;
}

int proc__living_prefix(int dir, char *ret_prefix, size_t size)
{
	char prefix[32] = "";
	size_t count, i;
	pid_t *tids;
	int err;

	err = has_memory(dir, prefix);
	if (err > 0) {
		snprintf(ret_prefix, size, "%s", prefix);
		return 0;
	}
	if (err < 0 && err != -ESRCH)
		return err;
	err = proc__threads(dir, &tids, &count);
	if (err)
		return err;
	err = -ENODATA;
	for (i = 0; i < count; i++) {
		snprintf(prefix, sizeof(prefix), "task/%d/", tids[i]);
		if (has_memory(dir, prefix) <= 0)
			continue;
		snprintf(ret_prefix, size, "%s", prefix);
		err = 0;
		break;
	}
	free(tids);
	return err;
}

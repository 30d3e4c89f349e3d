// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>

#include "layout/debug_file.h"

#define BUILD_ID_MAX 64
#define DEBUG_DIR    "/usr/lib/debug" /* as in gdb and elfutils */

struct debug_file {
	char *path;
	int fd;
	Elf *elf;
	Dwarf *dwarf;
};

/* What names the separate file. */
struct wanted {
	char root[32];	       /* "", or /proc/PID/root */
	char origin[PATH_MAX]; /* where the executable lies below that root */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
	const char *link; /* NULL when there is no .gnu_debuglink */
	uint32_t crc;
};

static int open_elf(const char *path, struct debug_file *file)
{
	struct stat status;

	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		return -EBADMSG;
	/* Debug info of gigabytes is mapped, not copied. */
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	return file->elf && elf_kind(file->elf) == ELF_K_ELF ? 0 : -EBADMSG;
}

/* Spares libdw the work, which reads all debug sections, when there are no types. */
static bool has_debug_info(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name &&
		    (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0 ||
		     strcmp(name, ".debug_types") == 0))
			return true;
	}
	return false;
}

static int open_dwarf(struct debug_file *file)
{
	if (!has_debug_info(file->elf))
		return -ENODATA;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return file->dwarf ? 0 : -EBADMSG;
}

/* The CRC-32 of .gnu_debuglink: reflected polynomial 0x04c11db7, as in zlib. */
static int file_crc(int fd, uint32_t *ret_crc)
{
	uint32_t table[256], crc = UINT32_MAX, i, bit;
	uint8_t buf[65536];
	off_t offset = 0;
	ssize_t n;

	for (i = 0; i < 256; i++) {
		table[i] = i;
		for (bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	while ((n = pread(fd, buf, sizeof(buf), offset)) > 0) {
		ssize_t at;

		for (at = 0; at < n; at++)
			crc = table[(crc ^ buf[at]) & 0xff] ^ crc >> 8;
		offset += n;
	}
	if (n < 0)
		return -errno;
	*ret_crc = ~crc;
	return 0;
}

/* Whether @file belongs to the executable: by build id, or by the checksum when it has none. */
static bool is_wanted(const struct wanted *wanted, const struct debug_file *file)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(file->elf, &id);
	uint32_t crc;

	if (wanted->build_id_len && len > 0)
		return (size_t)len == wanted->build_id_len &&
		       memcmp(id, wanted->build_id, wanted->build_id_len) == 0;
	return wanted->link && file_crc(file->fd, &crc) == 0 && crc == wanted->crc;
}

static int try_file(const struct wanted *wanted, const char *path, struct debug_file **ret_file)
{
	struct debug_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->fd = -1;
	err = open_elf(path, file);
	if (!err && !is_wanted(wanted, file))
		err = -ENODATA;
	if (!err)
		err = open_dwarf(file);
	if (err) {
		debug_file__close(file);
		return err;
	}
	*ret_file = file;
	return 0;
}

static int try_build_id(const struct wanted *wanted, const char *root, struct debug_file **ret_file)
{
	char path[sizeof(DEBUG_DIR) + 64 + 2 * BUILD_ID_MAX];
	size_t i;
	int len;

	if (wanted->build_id_len < 2)
		return -ENODATA;
	len = snprintf(path, sizeof(path), "%s" DEBUG_DIR "/.build-id/%02x/", root,
		       wanted->build_id[0]);
	for (i = 1; i < wanted->build_id_len; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "%02x",
				wanted->build_id[i]);
	snprintf(path + len, sizeof(path) - (size_t)len, ".debug");
	return try_file(wanted, path, ret_file);
}

static int try_link(const struct wanted *wanted, const char *root, struct debug_file **ret_file)
{
	const char *slash = strrchr(wanted->origin, '/');
	int dir = slash ? (int)(slash - wanted->origin) : 0, err = -ENODATA;
	const char *places[][2] = { { "", "/" }, { "", "/.debug/" }, { DEBUG_DIR, "/" } };
	size_t i;

	if (!wanted->link || strchr(wanted->link, '/') || !slash)
		return -ENODATA;
	for (i = 0; i < sizeof(places) / sizeof(places[0]) && err; i++) {
		char *path;

		if (asprintf(&path, "%s%s%.*s%s%s", root, places[i][0], dir, wanted->origin,
			     places[i][1], wanted->link) < 0)
			return -ENOMEM;
		err = try_file(wanted, path, ret_file);
		free(path);
	}
	return err;
}

/* Resolves /proc/PID/exe to a path below /proc/PID/root, another path to itself. */
static void find_origin(struct wanted *wanted, const char *path)
{
	static const char deleted[] = " (deleted)";
	ssize_t len;
	int pid;

	if (sscanf(path, "/proc/%d/", &pid) != 1) {
		if (!realpath(path, wanted->origin))
			wanted->origin[0] = '\0';
		return;
	}
	snprintf(wanted->root, sizeof(wanted->root), "/proc/%d/root", pid);
	len = readlink(path, wanted->origin, sizeof(wanted->origin) - 1);
	if (len < 0)
		len = 0;
	wanted->origin[len] = '\0';
	if (len > (ssize_t)strlen(deleted) &&
	    strcmp(wanted->origin + len - strlen(deleted), deleted) == 0)
		wanted->origin[len - (ssize_t)strlen(deleted)] = '\0';
}

static int find_separate(const struct debug_file *main, struct debug_file **ret_file)
{
	struct wanted wanted = { 0 };
	GElf_Word crc = 0;
	const void *id;
	ssize_t len;
	int err;

	len = dwelf_elf_gnu_build_id(main->elf, &id);
	if (len > 0 && len <= BUILD_ID_MAX) {
		memcpy(wanted.build_id, id, (size_t)len);
		wanted.build_id_len = (size_t)len;
	}
	wanted.link = dwelf_elf_gnu_debuglink(main->elf, &crc);
	wanted.crc = crc;
	find_origin(&wanted, main->path);
	err = try_build_id(&wanted, wanted.root, ret_file);
	if (err)
		err = try_link(&wanted, wanted.root, ret_file);
	if (err && wanted.root[0])
		err = try_build_id(&wanted, "", ret_file);
	if (err && wanted.root[0])
		err = try_link(&wanted, "", ret_file);
	/* Whatever is wrong with a file that may be there: it does not help. */
	return err && err != -ENOMEM ? -ENODATA : err;
}

int debug_file__open(const char *path, struct debug_file **ret_file)
{
	struct debug_file *file = calloc(1, sizeof(*file)), *separate;
	int err;

	if (!file)
		return -ENOMEM;
	file->fd = -1;
	err = open_elf(path, file);
	if (!err)
		err = open_dwarf(file);
	if (err == -ENODATA) {
		err = find_separate(file, &separate);
		debug_file__close(file);
		file = err ? NULL : separate;
	}
	if (err) {
		debug_file__close(file);
		return err;
	}
	*ret_file = file;
	return 0;
}

void debug_file__close(struct debug_file *file)
{
	if (!file)
		return;
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

const char *debug_file__path(const struct debug_file *file)
{
	return file->path;
}

Dwarf *debug_file__dwarf(const struct debug_file *file)
{
	return file->dwarf;
}

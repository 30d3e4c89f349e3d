// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include "target/elf_image.h"
#include "target/elf_internal.h"

#define SEGMENTS_MAX 4096
#define SECTIONS_MAX 65536
#define NOTES_MAX    65536

static struct elf_range clip(const struct elf_image *image, uint64_t offset, uint64_t size)
{
	struct elf_range range = { offset, size };

	if (offset >= image->size)
		range.size = 0;
	else if (size > image->size - offset)
		range.size = image->size - offset;
	return range;
}

static int read_header(struct elf_image *image, Elf *elf)
{
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -ENOEXEC;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -ENOEXEC;
	image->machine = header.e_machine;
	image->pie = header.e_type == ET_DYN;
	image->entry = header.e_entry;
	return 0;
}

static int read_build_id(struct elf_image *image, uint64_t offset, uint64_t size)
{
	struct elf_range range = clip(image, offset, size);
	static const char digits[] = "0123456789abcdef";
	uint64_t at = 0;
	char *notes;
	int err;

	if (range.size > NOTES_MAX)
		range.size = NOTES_MAX;
	err = elf_image__load(image, &range, &notes);
	if (err)
		return err;
	while (range.size - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name, desc;
		Elf64_Nhdr note;
		size_t i;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + (((uint64_t)note.n_namesz + 3) & ~3ull);
		if (desc > range.size || note.n_descsz > range.size - desc)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 &&
		    note.n_descsz <= sizeof(image->build_id) / 2) {
			for (i = 0; i < note.n_descsz; i++) {
				unsigned char byte = (unsigned char)notes[desc + i];

				image->build_id[2 * i] = digits[byte >> 4];
				image->build_id[2 * i + 1] = digits[byte & 15];
			}
			image->build_id[2 * i] = '\0';
			break;
		}
		at = desc + (((uint64_t)note.n_descsz + 3) & ~3ull);
		if (at > range.size)
			break;
	}
	free(notes);
	return 0;
}

static int add_segment(struct elf_image *image, const GElf_Phdr *header)
{
	struct elf_range range = clip(image, header->p_offset, header->p_filesz);
	struct elf_segment segment = {
		.vaddr = header->p_vaddr,
		.offset = header->p_offset,
		.file_size = range.size,
		.memory_size = header->p_memsz,
		.align = header->p_align,
		.writable = header->p_flags & PF_W,
	};

	if (header->p_memsz > UINT64_MAX - header->p_vaddr ||
	    range.size > UINT64_MAX - header->p_vaddr)
		return -ENOEXEC;
	if (header->p_type == PT_LOAD) {
		image->loads[image->load_count++] = segment;
	} else {
		image->tls = segment;
		image->has_tls = true;
	}
	return 0;
}

static int read_segments(struct elf_image *image, Elf *elf)
{
	GElf_Phdr header;
	size_t count, i;
	int err = 0;

	if (elf_getphdrnum(elf, &count) || count == 0 || count > SEGMENTS_MAX)
		return -ENOEXEC;
	image->loads = calloc(count, sizeof(*image->loads));
	if (!image->loads)
		return -ENOMEM;
	for (i = 0; i < count && !err; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			return -ENOEXEC;
		if (header.p_type == PT_LOAD || header.p_type == PT_TLS)
			err = add_segment(image, &header);
		else if (header.p_type == PT_NOTE && !image->build_id[0])
			err = read_build_id(image, header.p_offset, header.p_filesz);
	}
	if (!err && image->load_count == 0)
		err = -ENOEXEC;
	return err;
}

static void add_section(struct elf_image *image, Elf *elf, const GElf_Shdr *header,
			const char *name)
{
	struct elf_range range = clip(image, header->sh_offset, header->sh_size);
	GElf_Shdr names;

	if (header->sh_type == SHT_NOBITS || header->sh_flags & SHF_COMPRESSED || !range.size)
		return;
	if (header->sh_type == SHT_SYMTAB) {
		if (header->sh_entsize != sizeof(Elf64_Sym) ||
		    !gelf_getshdr(elf_getscn(elf, header->sh_link), &names) ||
		    names.sh_type != SHT_STRTAB || names.sh_flags & SHF_COMPRESSED)
			return;
		image->symbols = range;
		image->names = clip(image, names.sh_offset, names.sh_size);
	} else if (strcmp(name, ".comment") == 0) {
		image->comment = range;
	} else if (strncmp(name, ".rodata", 7) == 0) {
		image->constants[image->constant_count++] = range;
	}
}

/* Sections are a convenience: a damaged or missing table of them is no error. */
static int read_sections(struct elf_image *image, Elf *elf)
{
	size_t count, names;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (elf_getshdrnum(elf, &count) || count == 0 || count > SECTIONS_MAX ||
	    elf_getshdrstrndx(elf, &names))
		return 0;
	image->constants = calloc(count, sizeof(*image->constants));
	if (!image->constants)
		return -ENOMEM;
	while (image->constant_count < count && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		add_section(image, elf, &header, name ? name : "");
	}
	return 0;
}

/* ELF_C_READ copies with pread(): a file that shrinks under us gives errors, not SIGBUS. */
static int read_headers(struct elf_image *image)
{
	Elf *elf;
	int err;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf = elf_begin(image->fd, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	err = read_header(image, elf);
	if (!err)
		err = read_segments(image, elf);
	if (!err)
		err = read_sections(image, elf);
	elf_end(elf);
	return err;
}

static int open_file(struct elf_image *image, const char *path)
{
	struct stat status;

	image->cache = calloc(1, sizeof(*image->cache));
	image->path = strdup(path);
	if (!image->path || !image->cache)
		return -ENOMEM;
	/* Not to wait for a writer when it is a named pipe. */
	image->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (image->fd < 0 || fstat(image->fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	image->size = (uint64_t)status.st_size;
	return 0;
}

int elf_image__open(const char *path, struct elf_image **ret_image, struct fail *fail)
{
	struct elf_image *image = calloc(1, sizeof(*image));
	int err;

	if (!image)
		return fail__set(fail, -ENOMEM, "out of memory");
	image->fd = -1;
	err = open_file(image, path);
	if (!err)
		err = read_headers(image);
	if (!err)
		err = elf_image__find_versions(image);
	if (err) {
		elf_image__close(image);
		if (err == -ENOEXEC)
			return fail__set(fail, err,
					 "%s is no whole 64-bit ELF executable for x86-64 or "
					 "AArch64",
					 path);
		return fail__set(fail, err, "cannot read %s: %s", path, strerror(-err));
	}
	*ret_image = image;
	return 0;
}

void elf_image__forget(const struct elf_image *image)
{
	struct elf_cache *cache = image->cache;

	if (!cache)
		return;
	while (cache->blocks) {
		struct elf_block *block = cache->blocks;

		cache->blocks = block->next;
		free(block);
	}
	free(cache->symbols);
	free(cache->names);
	*cache = (struct elf_cache){ 0 };
}

void elf_image__close(struct elf_image *image)
{
	if (!image)
		return;
	elf_image__forget(image);
	free(image->cache);
	free(image->constants);
	free(image->loads);
	free(image->path);
	if (image->fd >= 0)
		close(image->fd);
	free(image);
}

const char *elf_image__path(const struct elf_image *image)
{
	return image->path;
}

const char *elf_image__machine(const struct elf_image *image)
{
	return image->machine == EM_X86_64 ? "x86_64" : "aarch64";
}

bool elf_image__is_pie(const struct elf_image *image)
{
	return image->pie;
}

const char *elf_image__build_id(const struct elf_image *image)
{
	return image->build_id;
}

const char *elf_image__dbsp_version(const struct elf_image *image)
{
	return image->dbsp_version;
}

bool elf_image__uses_dbsp(const struct elf_image *image)
{
	return image->uses_dbsp;
}

const char *elf_image__rustc_version(const struct elf_image *image)
{
	return image->rustc_version;
}

bool elf_image__has_symbols(const struct elf_image *image)
{
	return image->symbols.size > sizeof(Elf64_Sym);
}

uint64_t elf_image__entry(const struct elf_image *image)
{
	return image->entry;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ELF files that are made to be large work: whatever they say, they are done with soon. Without a
 * bound each of them takes minutes or gigabytes; the alarm ends the test then.
 */
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "target/demangle.h"
#include "target/elf_image.h"

#define SECONDS	 60
#define SECTIONS 60000
#define SYMBOLS	 300000
#define SIZE	 (32u << 20)
#define NAMES	 60000 /* bytes of the table of names */

/* An executable of SIZE bytes that are mapped here, by a path that opens it. */
struct file {
	int fd;
	uint8_t *bytes;
	char path[64];
};

static void open_file(struct file *file)
{
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_shoff = 4096,
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Phdr load = { .p_type = PT_LOAD, .p_filesz = SIZE, .p_memsz = SIZE };

	file->fd = memfd_create("elf", MFD_CLOEXEC);
	CHECK(file->fd >= 0 && ftruncate(file->fd, SIZE) == 0);
	file->bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (file->bytes == MAP_FAILED)
		exit(2);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	memcpy(file->bytes, &head, sizeof(head));
	memcpy(file->bytes + sizeof(head), &load, sizeof(load));
}

static void close_file(struct file *file)
{
	munmap(file->bytes, SIZE);
	close(file->fd);
}

/* @count sections, the first of which holds the names of all. */
static Elf64_Shdr *sections_of(struct file *file, uint16_t count)
{
	static const char names[] = "\0.rodata\0.symtab\0.strtab";
	Elf64_Ehdr *head = (Elf64_Ehdr *)file->bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(file->bytes + head->e_shoff);

	memcpy(file->bytes + 1024, names, sizeof(names));
	sections[1] =
		(Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 1024, .sh_size = sizeof(names) };
	head->e_shnum = count;
	head->e_shstrndx = 1;
	return sections;
}

/* All of the file in each of many sections. */
static void check_overlapping_sections(void)
{
	struct elf_image *image;
	struct fail fail = { 0 };
	Elf64_Shdr *sections;
	struct file file;

	open_file(&file);
	sections = sections_of(&file, SECTIONS);
	for (size_t i = 2; i < SECTIONS; i++)
		sections[i] =
			(Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = SIZE };
	if (CHECK(elf_image__open(file.path, &image, &fail) == 0)) {
		CHECK(!elf_image__uses_dbsp(image));
		elf_image__close(image);
	}
	close_file(&file);
}

static int count(const struct elf_symbol *symbol, void *arg)
{
	(void)symbol;
	++*(size_t *)arg;
	return 0;
}

/* The same long name for each of many symbols. */
static void check_shared_names(void)
{
	struct elf_image *image;
	struct fail fail = { 0 };
	Elf64_Shdr *sections;
	Elf64_Sym *symbols;
	struct file file;
	size_t found = 0;

	open_file(&file);
	sections = sections_of(&file, 4);
	sections[2] = (Elf64_Shdr){ .sh_name = 9,
				    .sh_type = SHT_SYMTAB,
				    .sh_offset = 1 << 20,
				    .sh_size = SYMBOLS * sizeof(Elf64_Sym),
				    .sh_entsize = sizeof(Elf64_Sym),
				    .sh_link = 3 };
	sections[3] = (Elf64_Shdr){
		.sh_name = 17, .sh_type = SHT_STRTAB, .sh_offset = 1 << 16, .sh_size = NAMES
	};
	memset(file.bytes + (1 << 16) + 1, 'a', NAMES - 2);
	symbols = (Elf64_Sym *)(file.bytes + (1 << 20));
	for (size_t i = 1; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){ .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1 };
	if (CHECK(elf_image__open(file.path, &image, &fail) == 0)) {
		CHECK(elf_image__each_symbol(image, "aaab", count, &found) < 0 && found == 0);
		elf_image__close(image);
	}
	close_file(&file);
}

/* Twice as long with each tuple of two references to the one before: (((..), (..)), ((..), (..)))
 */
static void check_doubling_name(void)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_RIC1al", reference[8];
	size_t last = strlen(name) - 3;

	for (int i = 0; i < 60; i++) {
		size_t here = strlen(name) - 2, number = last - 1;

		if (number < 62)
			snprintf(reference, sizeof(reference), "B%c_", digits[number]);
		else
			snprintf(reference, sizeof(reference), "B%c%c_", digits[number / 62],
				 digits[number % 62]);
		strcat(name, "T");
		strcat(name, reference);
		strcat(name, reference);
		strcat(name, "E");
		last = here;
		if (i == 3) {
			char whole[1024], *demangled;

			snprintf(whole, sizeof(whole), "%sE", name);
			demangled = demangle__rust(whole);
			CHECK(demangled && strstr(demangled, "((((i32, i32), (i32, i32))"));
			free(demangled);
		}
	}
	strcat(name, "E");
	CHECK(!demangle__rust(name));
}

static void check_names(void)
{
	static const struct {
		const char *mangled;
		const char *name;
	} names[] = {
		{ "_ZN4dbsp5steps17h0123456789abcdefE", "dbsp::steps" },
		{ "_ZN4dbsp5steps28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		  "dbsp::steps::{{closure}}" },
		{ "_RNCNvC4dbsp5steps0", "dbsp::steps::{{closure}}" },
		{ "_ZN4dbsp5steps17h0123456789abcdefE.llvm.123", "dbsp::steps" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = demangle__rust(names[i].mangled);

		CHECK_TEXT(name, names[i].name);
		free(name);
	}
	CHECK(!demangle__rust("main") && !demangle__rust("_R") && !demangle__rust(""));
}

int main(void)
{
	alarm(SECONDS);
	check_names();
	check_doubling_name();
	check_overlapping_sections();
	check_shared_names();
	return CHECK_RESULT();
}

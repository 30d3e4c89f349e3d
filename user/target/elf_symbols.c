// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Search for symbols by their Rust names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem() */
#endif
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/demangle.h"
#include "target/elf_image.h"
#include "target/elf_internal.h"

#define WORDS_MAX 16
#define WORD_MAX  64
/* Names share tails with others at most; in a damaged table all may be the same, and long. */
#define NAMES_MAX 16 /* times the table of names */

/* Words of the searched name that stand in the mangled name too, whatever the scheme. */
struct word_filter {
	char words[WORDS_MAX][WORD_MAX];
	size_t count;
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Basic types, keywords and closures are single letters in v0 names (RFC 2603). */
static bool is_encoded(const char *word, size_t len)
{
	static const char *const encoded[] = {
		"bool",	  "char",   "str",  "isize", "usize",  "i128",	  "u128",
		"i16",	  "u16",    "i32",  "u32",   "i64",    "u64",	  "f16",
		"f32",	  "f64",    "f128", "mut",   "const",  "dyn",	  "for",
		"unsafe", "extern", "impl", "shim",  "vtable", "closure", "reify",
	};
	size_t i;

	for (i = 0; i < sizeof(encoded) / sizeof(encoded[0]); i++) {
		if (strlen(encoded[i]) == len && memcmp(encoded[i], word, len) == 0)
			return true;
	}
	return false;
}

static void make_filter(struct word_filter *filter, const char *part)
{
	filter->count = 0;
	while (*part && filter->count < WORDS_MAX) {
		size_t len = 0;

		while (is_word_char(part[len]))
			len++;
		if (len >= 3 && len < WORD_MAX && !is_encoded(part, len)) {
			char *word = filter->words[filter->count++];

			memcpy(word, part, len);
			word[len] = '\0';
		}
		part += len ? len : 1;
	}
}

/* The last words are the rarest: the first one is the crate. */
static bool may_match(const struct word_filter *filter, const char *mangled)
{
	size_t i;

	for (i = filter->count; i > 0; i--) {
		if (!strstr(mangled, filter->words[i - 1]))
			return false;
	}
	return true;
}

static int load_symbols(const struct elf_image *image)
{
	struct elf_cache *cache = image->cache;
	char *symbols, *names;
	int err;

	if (cache->symbols)
		return 0;
	err = elf_image__load(image, &image->symbols, &symbols);
	if (err)
		return err;
	err = elf_image__load(image, &image->names, &names);
	if (err) {
		free(symbols);
		return err;
	}
	cache->symbols = (uint8_t *)symbols;
	cache->names = names;
	return 0;
}

static int visit_match(const Elf64_Sym *symbol, const char *name, const char *part,
		       int (*visit)(const struct elf_symbol *symbol, void *arg), void *arg)
{
	char *demangled = demangle__rust(name);
	struct elf_symbol found = {
		.name = name,
		.demangled = demangled ? demangled : name,
		.value = symbol->st_value,
		.size = symbol->st_size,
		.is_tls = ELF64_ST_TYPE(symbol->st_info) == STT_TLS,
		.is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC,
	};
	int stop = 0;

	if (strstr(found.demangled, part))
		stop = visit(&found, arg);
	free(demangled);
	return stop;
}

int elf_image__each_symbol(const struct elf_image *image, const char *part,
			   int (*visit)(const struct elf_symbol *symbol, void *arg), void *arg)
{
	size_t count = image->symbols.size / sizeof(Elf64_Sym), i;
	uint64_t left = NAMES_MAX * image->names.size;
	struct word_filter filter;
	int err;

	if (!elf_image__has_symbols(image))
		return 0;
	err = load_symbols(image);
	if (err)
		return err;
	make_filter(&filter, part);
	for (i = 1; i < count && !err; i++) {
		const char *name = image->cache->names;
		Elf64_Sym symbol;
		unsigned int type;

		memcpy(&symbol, image->cache->symbols + i * sizeof(symbol), sizeof(symbol));
		type = ELF64_ST_TYPE(symbol.st_info);
		if ((type != STT_FUNC && type != STT_TLS) || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= image->names.size)
			continue;
		name += symbol.st_name;
		if (strlen(name) > left)
			return -EIO;
		left -= strlen(name);
		if (may_match(&filter, name))
			err = visit_match(&symbol, name, part, visit, arg);
	}
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an executable's file says: segments, symbols, thread-local storage, build id, versions.
 */
#ifndef DBPROF_TARGET_ELF_IMAGE_H
#define DBPROF_TARGET_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct elf_image;

struct elf_symbol {
	const char *name;      /* mangled, as in the file */
	const char *demangled; /* no hashes, closures as {{closure}}; name when not mangled */
	uint64_t value;	       /* virtual address, or offset in the TLS block for is_tls */
	uint64_t size;
	bool is_tls;
	bool is_function;
};

/*
 * Reads the ELF file @path (which may be /proc/PID/exe). Returns 0, -ENOEXEC when it is no ELF
 * executable for this machine, another negative errno. Nothing in the file is trusted.
 */
int elf_image__open(const char *path, struct elf_image **ret_image, struct fail *fail);
void elf_image__close(struct elf_image *image);

const char *elf_image__path(const struct elf_image *image);
/* "x86_64" or "aarch64". */
const char *elf_image__machine(const struct elf_image *image);
bool elf_image__is_pie(const struct elf_image *image);
/* Build id in hexadecimal, "" when there is none. */
const char *elf_image__build_id(const struct elf_image *image);
/* Version of the dbsp crate from panic paths ("0.354.0"), "" when the file has none. */
const char *elf_image__dbsp_version(const struct elf_image *image);
/* Whether the dbsp crate is in it, also one built from a checkout, whose paths bear no version. */
bool elf_image__uses_dbsp(const struct elf_image *image);
/* rustc version from .comment ("1.95.0"), "" when unknown. */
const char *elf_image__rustc_version(const struct elf_image *image);
bool elf_image__has_symbols(const struct elf_image *image);

/*
 * Calls @visit for each function and TLS symbol whose demangled name contains @part, until it
 * returns non-zero. Returns what @visit returned last, 0 when it was never called, -ENOMEM or
 * -EIO when the symbols cannot be read. The names are valid during the call of @visit only.
 */
int elf_image__each_symbol(const struct elf_image *image, const char *part,
			   int (*visit)(const struct elf_symbol *symbol, void *arg), void *arg);

/*
 * Distance from the thread pointer down to the TLS variable at @tls_offset, for x86-64
 * executables: PT_TLS.memsz, rounded up so that the block keeps PT_TLS.vaddr's place within
 * PT_TLS.align, - @tls_offset (ELF TLS ABI, variant II). Returns 0, -ENOENT when the file has no
 * PT_TLS, -ERANGE when the offset is outside of it, -ENOTSUP for other machines.
 */
int elf_image__tls_distance(const struct elf_image *image, uint64_t tls_offset,
			    uint64_t *ret_distance);

/* Virtual address of the entry point. */
uint64_t elf_image__entry(const struct elf_image *image);

/* Virtual address of the byte of a PT_LOAD segment at file @offset. Returns 0 or -ERANGE. */
int elf_image__vaddr(const struct elf_image *image, uint64_t offset, uint64_t *ret_vaddr);

/* Virtual address to file offset by the PT_LOAD segments. Returns 0 or -ERANGE. */
int elf_image__file_offset(const struct elf_image *image, uint64_t vaddr, uint64_t *ret_offset);

/*
 * Bytes of the file at virtual address @vaddr, *@ret_len at most, which is set to how many there
 * are. NULL when outside. A copy that lives as long as the image.
 */
const uint8_t *elf_image__bytes(const struct elf_image *image, uint64_t vaddr, size_t *ret_len);

/*
 * Gives back what was read of the file and kept, megabytes; it is read again when it is asked for.
 * Bytes that elf_image__bytes() has returned are gone.
 */
void elf_image__forget(const struct elf_image *image);

/* Lowest page-aligned PT_LOAD address, to compute the load bias. */
uint64_t elf_image__first_vaddr(const struct elf_image *image);

#endif

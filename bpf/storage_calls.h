/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of DBSP's storage reasons a system call belongs to (src/storage/backend/posixio_impl.rs
 * says which calls it makes under which BlockingFor guard).
 */
#ifndef DBPROF_BPF_STORAGE_CALLS_H
#define DBPROF_BPF_STORAGE_CALLS_H

#include "vmlinux.h"

#if defined(__TARGET_ARCH_x86)
#include <asm/unistd_64.h>
#elif defined(__TARGET_ARCH_arm64)
#include <asm/unistd.h>
#endif

#include "dbprof.h"

static __always_inline __u32 storage_reason(long call)
{
	switch (call) {
	case __NR_read:
	case __NR_readv:
	case __NR_pread64:
	case __NR_preadv:
	case __NR_preadv2:
		return DBPROF_STORAGE_READ;
	case __NR_write:
	case __NR_writev:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_pwritev2:
		return DBPROF_STORAGE_WRITE;
	case __NR_fsync:
	case __NR_fdatasync:
	case __NR_syncfs:
	case __NR_sync_file_range:
		return DBPROF_STORAGE_SYNC;
	default:
		/* open, stat, rename, unlink, readdir, ...: all the rest that DBSP guards. */
		return DBPROF_STORAGE_METADATA;
	}
}

#endif

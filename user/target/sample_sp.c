// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/stacks.h"
#include "util/clock.h"

#if defined(__x86_64__)
#define SP_REGISTER PERF_REG_X86_SP
#elif defined(__aarch64__)
#define SP_REGISTER PERF_REG_ARM64_SP
#else
#error "no stack pointer register known for this machine"
#endif

#define PERIOD_NS 200000 /* of the thread's CPU time; the kernel's lower limit is 10 us */
#define RING_SIZE 4096u	 /* one page: tens of samples, and the first one will do */

/* A record of one register: perf_output_sample(), kernel/events/core.c. */
struct sp_sample {
	struct perf_event_header header;
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_*; no register follows after NONE */
	uint64_t sp;
};

static int open_event(pid_t tid, int exclude_kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1ull << SP_REGISTER,
		.wakeup_events = 1,
		.exclude_kernel = (unsigned int)exclude_kernel & 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* The stack pointer in one of the ring's records, 0 when there is none (yet). */
static uint64_t find_sample(const struct perf_event_mmap_page *page, const uint8_t *ring)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;
	struct sp_sample sample;

	/* Only the first lap is read: the ring is written from its start. */
	while (head - at >= sizeof(sample.header) && at + sizeof(sample) <= RING_SIZE) {
		memcpy(&sample, ring + at, sizeof(sample));
		if (sample.header.type == PERF_RECORD_SAMPLE &&
		    sample.header.size >= sizeof(sample) && sample.abi == PERF_SAMPLE_REGS_ABI_64 &&
		    sample.sp)
			return sample.sp;
		if (sample.header.size < sizeof(sample.header))
			break;
		at += sample.header.size;
	}
	return 0;
}

static int64_t now_ms(void)
{
	return (int64_t)(clock__now() / 1000000);
}

static int wait_for_sample(int fd, const uint8_t *pages, size_t page_size, int timeout_ms,
			   uint64_t *ret_sp)
{
	int64_t end = now_ms() + timeout_ms, left;

	while ((left = end - now_ms()) > 0) {
		struct pollfd event = { .fd = fd, .events = POLLIN };
		uint64_t sp;

		if (poll(&event, 1, (int)left) < 0 && errno != EINTR)
			return -errno;
		sp = find_sample((const struct perf_event_mmap_page *)pages, pages + page_size);
		if (sp) {
			*ret_sp = sp;
			return 0;
		}
		if (event.revents & (POLLHUP | POLLERR))
			return -ESRCH; /* the thread has exited */
	}
	return -EBUSY;
}

int stacks__sample_sp(pid_t tid, int timeout_ms, uint64_t *ret_sp)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *pages;
	int fd, err;

	/* perf_event_paranoid = 2 lets unprivileged users sample user mode only. */
	fd = open_event(tid, 0);
	if (fd == -EACCES || fd == -EPERM)
		fd = open_event(tid, 1);
	if (fd < 0)
		return fd == -EACCES ? -EPERM : fd;
	pages = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		err = -errno;
		goto out;
	}
	err = wait_for_sample(fd, pages, page_size, timeout_ms, ret_sp);
	munmap(pages, 2 * page_size);
out:
	close(fd);
	return err;
}

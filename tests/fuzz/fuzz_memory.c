// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The target's memory: a worker's, as record_memory has written it (DBPROF_FUZZ_MEMORY), with
 * faults in words that are read. The clock and all pauses are ours, so that no try takes time.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "image.h"
#include "patches.h"
#include "target/stacks.h"
#include "util/clock.h"

#define TID	   1
#define CLOCK_STEP 5000000ull
#define OBJECT_MAX 65536 /* as in engine/fields.c */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	struct image_head head;
	const struct image_mapping *mappings;
	const uint64_t *addresses; /* of the pages, in the order in which they were read */
	const struct image_span *spans;
	uint8_t *pages;
	size_t *sorted; /* indices of pages by address */
	struct target target;
} image;
static uint64_t now;
static char folder[] = "/tmp/dbprof-fuzz-XXXXXX";

uint64_t clock__now(void)
{
	return now += CLOCK_STEP;
}

int usleep(useconds_t us)
{
	(void)us;
	return 0;
}

int nanosleep(const struct timespec *request, struct timespec *rest)
{
	(void)request;
	(void)rest;
	return 0;
}

static uint8_t *page_at(uint64_t addr)
{
	size_t low = 0, high = image.head.pages;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t found = image.addresses[image.sorted[middle]];

		if (found == addr)
			return image.pages + image.sorted[middle] * IMAGE_PAGE;
		if (found < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool is_mapped(uint64_t addr)
{
	for (size_t i = 0; i < image.head.mappings; i++)
		if (addr >= image.mappings[i].start && addr < image.mappings[i].end)
			return image.mappings[i].readable;
	return false;
}

/* What is mapped but was not read is zero. */
static int read_image(void *arg, uint64_t addr, void *buf, size_t len)
{
	uint8_t *to = buf;

	(void)arg;
	while (len) {
		uint64_t page = addr & ~(uint64_t)(IMAGE_PAGE - 1);
		size_t part = page + IMAGE_PAGE - addr < len ? page + IMAGE_PAGE - addr : len;
		const uint8_t *bytes = page_at(page);

		if (bytes)
			memcpy(to, bytes + (addr - page), part);
		else if (is_mapped(addr))
			memset(to, 0, part);
		else
			return -EFAULT;
		addr += part;
		to += part;
		len -= part;
	}
	return 0;
}

static int read_maps(void *arg, struct mapping **ret_mappings, size_t *ret_count)
{
	struct mapping *list = calloc(image.head.mappings + 1, sizeof(*list));

	(void)arg;
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < image.head.mappings; i++)
		list[i] = (struct mapping){
			.start = image.mappings[i].start,
			.end = image.mappings[i].end,
			.readable = image.mappings[i].readable,
			.writable = image.mappings[i].writable,
			.executable = image.mappings[i].executable,
			.path = strdup(""),
		};
	*ret_mappings = list;
	*ret_count = image.head.mappings;
	return 0;
}

static const struct memory_source source = { read_image, read_maps };

static int by_address(const void *a, const void *b)
{
	uint64_t x = image.addresses[*(const size_t *)a], y = image.addresses[*(const size_t *)b];

	return (x > y) - (x < y);
}

static void load(void)
{
	size_t size;
	uint8_t *bytes = fuzz__base("DBPROF_FUZZ_MEMORY", &size);

	memcpy(&image.head, bytes, sizeof(image.head));
	bytes += sizeof(image.head);
	image.mappings = (const void *)bytes;
	bytes += image.head.mappings * sizeof(*image.mappings);
	image.addresses = (const void *)bytes;
	bytes += image.head.pages * sizeof(*image.addresses);
	image.spans = (const void *)bytes;
	image.pages = bytes + image.head.spans * sizeof(*image.spans);
	image.sorted = calloc(image.head.pages, sizeof(*image.sorted));
	for (size_t i = 0; i < image.head.pages; i++)
		image.sorted[i] = i;
	qsort(image.sorted, image.head.pages, sizeof(*image.sorted), by_address);
}

static const char *thread_file(const char *name)
{
	static char path[96];

	snprintf(path, sizeof(path), "%s/task/%d/%s", folder, TID, name);
	return path;
}

static void write_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
	if (fd < 0 || pwrite(fd, bytes, len, (off_t)offset) != (ssize_t)len)
		exit(2);
}

/* Of the stack's pages those from the stack pointer on are in use, as the kernel would say. */
static void write_pagemap(void)
{
	const uint64_t used = 1ull << 63, none = 0;
	int fd = open(thread_file("pagemap"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	for (size_t i = 0; i < image.head.mappings; i++) {
		const struct image_mapping *mapping = &image.mappings[i];

		if (image.head.stack_pointer < mapping->start ||
		    image.head.stack_pointer >= mapping->end)
			continue;
		write_at(fd, &none, sizeof(none), mapping->end / IMAGE_PAGE * sizeof(none));
		for (uint64_t page = image.head.stack_pointer / IMAGE_PAGE;
		     page < mapping->end / IMAGE_PAGE; page++)
			write_at(fd, &used, sizeof(used), page * sizeof(used));
	}
	close(fd);
}

static void make_folder(void)
{
	char path[64], text[64];
	int fd;

	if (!mkdtemp(folder))
		exit(2);
	snprintf(path, sizeof(path), "%s/task", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/task/%d", folder, TID);
	mkdir(path, 0700);
	fd = open(thread_file("syscall"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	snprintf(text, sizeof(text), "202 0x0 0x0 0x0 0x0 0x0 0x0 0x%llx 0x0\n",
		 (unsigned long long)image.head.stack_pointer);
	write_at(fd, text, strlen(text), 0);
	close(fd);
	write_pagemap();
}

static void remove_folder(void)
{
	char path[64];

	unlink(thread_file("syscall"));
	unlink(thread_file("pagemap"));
	snprintf(path, sizeof(path), "%s/task/%d", folder, TID);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/task", folder);
	rmdir(path);
	rmdir(folder);
}

static int exercise(bool wants_slots)
{
	const struct target_thread thread = { .tid = TID, .comm = "dbsp-worker-0" };
	int err;

	now = image.head.clock_ns;
	if (stacks__new(&image.target.stacks) ||
	    memory__from_source(&source, NULL, &image.target.memory))
		exit(2);
	err = image__exercise(&image.target, &image.head, &thread, wants_slots);
	memory__close(image.target.memory);
	stacks__free(image.target.stacks);
	return err;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int err;

	(void)argc;
	(void)argv;
	load();
	make_folder();
	atexit(remove_folder);
	image.target.pid = TID;
	image.target.proc_dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Without a fault all of it can be read, or the fuzzer would try nothing. */
	err = exercise(true);
	if (err) {
		fprintf(stderr, "the recorded memory cannot be read: %s\n", strerror(-err));
		exit(2);
	}
	return 0;
}

/* A fault in a word that is read; notes down what was there. */
static uint8_t *spoil_word(const struct patch *patch, uint8_t saved[8])
{
	const struct image_span *span = &image.spans[patch->where % image.head.spans];
	const struct image_span *other =
		&image.spans[(patch->where >> 12 ^ patch->value) % image.head.spans];
	uint64_t at = span->addr + (patch->where >> 16) * 8ull % span->len;
	uint64_t from = other->addr + patch->small * 8ull % other->len;
	size_t offset = at % IMAGE_PAGE < IMAGE_PAGE - 8 ? at % IMAGE_PAGE : IMAGE_PAGE - 8;
	uint8_t *place = page_at(at & ~(uint64_t)(IMAGE_PAGE - 1)) + offset, word[8] = { 0 };

	read_image(NULL, from, word, sizeof(word));
	memcpy(saved, place, 8);
	patch__apply(patch, place, 8, word);
	return place;
}

/* A fault in the layout, as in a file for something else. */
static void spoil_layout(const struct patch *patch)
{
	uint64_t *value = &image.head.layout.value[patch->where % LAYOUT_ITEMS];

	*value = patch->value % 8 == 0 ? LAYOUT_ABSENT : patch->value % (2 * OBJECT_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patch patches[PATCHES_MAX];
	size_t count = patches__parse(data, size, patches);
	uint8_t saved[PATCHES_MAX][8], *places[PATCHES_MAX];
	const struct layout layout = image.head.layout;

	for (size_t i = 0; i < count; i++) {
		places[i] = NULL;
		if (patches[i].kind == PATCH_HALF_WORD && patches[i].small >= 0xe0)
			spoil_layout(&patches[i]);
		else
			places[i] = spoil_word(&patches[i], saved[i]);
	}
	/* To search a stack takes longer than all else. */
	exercise(count && patches[0].value % 8 == 0);
	for (size_t i = count; i-- > 0;)
		if (places[i])
			memcpy(places[i], saved[i], 8);
	image.head.layout = layout;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Folders that appear whole or not at all.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "util/atomic_folder.h"

static char top[] = "/tmp/dbprof-unit-XXXXXX";

static const char *in_top(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

/* Entries of a folder, -1 when there is none. */
static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static void put(const struct atomic_folder *folder, const char *name)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", atomic_folder__path(folder), name);
	file = fopen(path, "w");
	CHECK(file && fputs("text", file) >= 0);
	if (file)
		fclose(file);
}

static void put_below(const struct atomic_folder *folder, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", atomic_folder__path(folder), name);
	CHECK(mkdir(path, 0700) == 0);
	snprintf(path, sizeof(path), "%s/x", name);
	put(folder, path);
}

static void test_commit(void)
{
	struct atomic_folder *folder = NULL;
	struct fail fail = { 0 };

	/* Slashes at its end do not matter. */
	CHECK(atomic_folder__open(in_top("new//"), &folder, &fail) == 0);
	put(folder, "0.dot");
	put_below(folder, "sub");
	CHECK(entries(in_top("new")) == -1);
	CHECK(atomic_folder__commit(folder, &fail) == 0);
	atomic_folder__close(folder);
	CHECK(entries(in_top("new")) == 2);
	CHECK(entries(in_top("new/sub")) == 1);
	CHECK(entries(top) == 1);
}

static void test_left(void)
{
	struct atomic_folder *folder = NULL;
	struct fail fail = { 0 };

	CHECK(atomic_folder__open(in_top("other"), &folder, &fail) == 0);
	put(folder, "0.dot");
	put_below(folder, "sub");
	CHECK(entries(top) == 2);
	atomic_folder__close(folder);
	CHECK(entries(top) == 1);
	atomic_folder__close(NULL);
}

/* An empty folder is taken, anything else stays. */
static void test_taken_place(void)
{
	struct atomic_folder *folder = NULL;
	struct fail fail = { 0 };

	CHECK(atomic_folder__open(in_top("new"), &folder, &fail) == -EEXIST);
	CHECK(strstr(fail.text, "there already") != NULL);
	CHECK(entries(in_top("new")) == 2);
	fail__clear(&fail);
	CHECK(atomic_folder__open(in_top("new/0.dot"), &folder, &fail) == -EEXIST);
	fail__clear(&fail);
	CHECK(mkdir(in_top("empty"), 0700) == 0);
	CHECK(atomic_folder__open(in_top("empty"), &folder, &fail) == 0);
	put(folder, "0.dot");
	CHECK(atomic_folder__commit(folder, &fail) == 0);
	atomic_folder__close(folder);
	CHECK(entries(in_top("empty")) == 1);
}

static void test_no_place(void)
{
	struct atomic_folder *folder = NULL;
	struct fail fail = { 0 };

	CHECK(atomic_folder__open(in_top("missing/x"), &folder, &fail) == -ENOENT);
	fail__clear(&fail);
	CHECK(atomic_folder__open("", &folder, &fail) < 0);
	fail__clear(&fail);
	CHECK(atomic_folder__open("/", &folder, &fail) < 0);
	CHECK(fail.text[0] != '\0');
}

int main(void)
{
	char command[64];

	CHECK(mkdtemp(top) != NULL);
	test_commit();
	test_left();
	test_taken_place();
	test_no_place();
	snprintf(command, sizeof(command), "rm -r %s", top);
	CHECK(system(command) == 0);
	return CHECK_RESULT();
}

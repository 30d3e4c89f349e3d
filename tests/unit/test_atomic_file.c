// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Output files appear whole or not at all.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "util/atomic_file.h"

#define PATH_BYTES 512

static const char *in_folder(const char *folder, const char *name, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", folder, name);
	return path;
}

static size_t entries(const char *folder)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2; /* without "." and ".." */
}

static void check_content(const char *path, const char *wanted)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	if (!CHECK(file != NULL))
		return;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	CHECK_TEXT(text, wanted);
}

/* Returns what the commit returned, or the error of the open. */
static int write_file(const char *path, const char *text, bool commit)
{
	struct fail fail = { "" };
	struct atomic_file *file = NULL;
	int err = atomic_file__open(path, &file, &fail);

	if (!err) {
		fputs(text, atomic_file__stream(file));
		if (commit)
			err = atomic_file__commit(file, &fail);
	}
	CHECK(!err == !fail.text[0]);
	CHECK(!err || strstr(fail.text, path));
	atomic_file__close(file);
	return err;
}

static void test_files(const char *folder)
{
	char path[PATH_BYTES];
	struct stat info;

	in_folder(folder, "profile.json", path);
	CHECK(write_file(path, "lost", false) == 0);
	CHECK(entries(folder) == 0);
	umask(027);
	CHECK(write_file(path, "one", true) == 0);
	CHECK(entries(folder) == 1);
	check_content(path, "one");
	CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
	CHECK(write_file(path, "lost", false) == 0);
	check_content(path, "one");
	chmod(path, 0604);
	CHECK(write_file(path, "two", true) == 0);
	check_content(path, "two");
	CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0604);
	CHECK(entries(folder) == 1);
}

/* A link keeps pointing at the file, whose content is new. */
static void test_link(const char *folder)
{
	char link[PATH_BYTES], path[PATH_BYTES];
	struct stat info;

	in_folder(folder, "link.json", link);
	CHECK(symlink("profile.json", link) == 0);
	CHECK(write_file(link, "three", true) == 0);
	CHECK(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
	check_content(in_folder(folder, "profile.json", path), "three");
	CHECK(entries(folder) == 2);
	unlink(link);
}

/* The disk fills up: what was there stays. */
static void test_no_space(const char *folder)
{
	struct rlimit old, low = { 2, 2 };
	char path[PATH_BYTES];

	in_folder(folder, "profile.json", path);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	low.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_FSIZE, &low);
	CHECK(write_file(path, "too long", true) == -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	check_content(path, "three");
	CHECK(entries(folder) == 1);
}

static void test_refusals(const char *folder)
{
	char path[PATH_BYTES];
	struct stat info;

	CHECK(write_file("/dev/full", "x", true) == -ENOSPC);
	CHECK(write_file("/dev/null", "x", true) == 0);
	CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
	CHECK(stat("/dev/full", &info) == 0 && S_ISCHR(info.st_mode));
	CHECK(write_file("", "x", true) == -ENOENT);
	CHECK(write_file(folder, "x", true) == -EISDIR);
	CHECK(write_file(in_folder(folder, "new/", path), "x", true) == -EISDIR);
	CHECK(write_file(in_folder(folder, "none/x.json", path), "x", true) == -ENOENT);
	CHECK(write_file(in_folder(folder, "profile.json/x", path), "x", true) == -ENOTDIR);
	CHECK(entries(folder) == 1);
}

/* "-" is the standard output, which stays open. */
static void test_standard_output(const char *folder)
{
	char path[PATH_BYTES];
	int saved = dup(STDOUT_FILENO);
	int fd = open(in_folder(folder, "stdout", path), O_WRONLY | O_CREAT, 0600);

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	CHECK(write_file("-", "a", true) == 0);
	CHECK(write_file("-", "b", true) == 0);
	dup2(saved, STDOUT_FILENO);
	close(fd);
	close(saved);
	check_content(path, "ab");
	unlink(path);
}

int main(void)
{
	char folder[] = "/tmp/dbprof-test-XXXXXX";
	char path[PATH_BYTES];

	if (!mkdtemp(folder))
		return 1;
	test_files(folder);
	test_link(folder);
	test_no_space(folder);
	test_refusals(folder);
	test_standard_output(folder);
	unlink(in_folder(folder, "profile.json", path));
	CHECK(rmdir(folder) == 0);
	return CHECK_RESULT();
}

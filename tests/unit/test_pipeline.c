// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A pipeline's names, from folders that look as those in /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/pipeline.h"
#include "check.h"

#define UUID "01935c0e-2a6b-7cc3-9d7e-5f0e1a2b3c4d"

static char folder[200];

static const char *below(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *bytes, size_t len)
{
	FILE *file;

	unlink(below(name));
	file = fopen(below(name), "w");
	if (CHECK(file != NULL)) {
		CHECK(fwrite(bytes, 1, len, file) == len);
		fclose(file);
	}
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* A literal with the NUL at its end, as the kernel ends each argument. */
#define PUT(name, literal) put(name, literal, sizeof(literal))

/* Checks what is read: the error, the id and the name, each NULL when there must be none. */
static void check_names(int wanted, const char *id, const char *name)
{
	struct pipeline_names names = { 0 };
	int dir = open(folder, O_RDONLY | O_DIRECTORY);
	int err = pipeline_names__read(dir, &names);

	close(dir);
	if (!CHECK(err == wanted))
		fprintf(stderr, "  it is %d\n", err);
	CHECK(!id == !names.id && !name == !names.name);
	if (id && names.id)
		CHECK_TEXT(names.id, id);
	if (name && names.name)
		CHECK_TEXT(names.name, name);
	pipeline_names__clear(&names);
	CHECK(!names.id && !names.name);
}

static void make_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%.150s/dbprof-XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(folder) != NULL);
	CHECK(mkdir(below("root"), 0700) == 0 && mkdir(below("root/c"), 0700) == 0);
}

static void test_arguments(void)
{
	static const char whole[] = "./p\0--config-file\0/c/x.yaml\0--initial";

	put_text("root/c/x.yaml", "name: pipeline-" UUID "\ngiven_name: orders\n");
	put("cmdline", whole, sizeof(whole));
	check_names(0, UUID, "orders");
	put("cmdline", whole, 14); /* cut in the middle of a word */
	check_names(-ENODATA, NULL, NULL);
	PUT("cmdline", "p\0--config-file");
	check_names(-ENODATA, NULL, NULL);
	PUT("cmdline", "p\0--config-file=/c/x.yaml");
	check_names(0, UUID, "orders");
	PUT("cmdline", "p\0--config-files\0/c/x.yaml");
	check_names(-ENODATA, NULL, NULL);
	put("cmdline", "p\0--config-file=/c/x.yaml", 25); /* not ended */
	check_names(0, UUID, "orders");
	put("cmdline", "", 0);
	check_names(-ENODATA, NULL, NULL);
	PUT("cmdline", "p\0--config-file\0pipeline-" UUID "/x.yaml");
	check_names(0, UUID, NULL);
	PUT("cmdline", "p\0--config-file\0/gone/pipeline-" UUID "/x.yaml");
	check_names(0, UUID, NULL);
	PUT("cmdline", "p\0--config-file\0/gone/pipeline-1935/x.yaml");
	check_names(-ENOENT, NULL, NULL);
	put("cmdline", whole, sizeof(whole));
}

static void test_yaml(void)
{
	static const struct {
		const char *yaml;
		const char *name;
	} cases[] = {
		{ "given_name: a b \r\n", "a b" },
		{ "workers: 8\ngiven_name:   orders", "orders" },
		{ "given_name: 'it''s'\n", "it's" },
		{ "given_name: \"a \\\"b\\\" \\\\ c\"\n", "a \"b\" \\ c" },
		{ "given_name: 'open\n", "open" },
		{ "given_name: \"open\\", "open\\" },
		{ "given_name: '\n", "" },
		{ "given_name: null\n", NULL },
		{ "given_name: ~\n", NULL },
		{ "given_name:\n", NULL },
		{ "given_name", NULL },
		{ "x:\n  given_name: inner\n", NULL },
		{ "my_given_name: other\n", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_text("root/c/x.yaml", cases[i].yaml);
		check_names(cases[i].name ? 0 : -ENODATA, NULL, cases[i].name);
	}
	put_text("root/c/x.yaml", "name: pipeline-1-2\ngiven_name: b\n");
	check_names(0, NULL, "b");
	PUT("root/c/x.yaml", "given_name: \0b\n");
	check_names(-ENODATA, NULL, NULL);
}

/* A file as large as it likes is read up to a bound. */
static void test_large(void)
{
	size_t len = 1 << 20;
	char *bytes = malloc(len);

	memset(bytes, '\n', len);
	memcpy(bytes + len - 14, "given_name: b\n", 14);
	put("root/c/x.yaml", bytes, len);
	check_names(-ENODATA, NULL, NULL);
	memcpy(bytes + 60000, "given_name: b\n", 14);
	put("root/c/x.yaml", bytes, len);
	check_names(0, NULL, "b");
	free(bytes);
}

/* What a container puts in the way leads into the container, and nothing is waited for. */
static void test_hostile_files(void)
{
	put_text("outside.yaml", "given_name: secret\n");
	unlink(below("root/c/x.yaml"));
	CHECK(symlink("../../outside.yaml", below("root/c/x.yaml")) == 0);
	check_names(-ENOENT, NULL, NULL);
	put_text("root/outside.yaml", "given_name: inside\n");
	check_names(0, NULL, "inside");
	unlink(below("root/c/x.yaml"));
	CHECK(symlink("/outside.yaml", below("root/c/x.yaml")) == 0);
	check_names(0, NULL, "inside");
	unlink(below("root/c/x.yaml"));
	CHECK(mkfifo(below("root/c/x.yaml"), 0600) == 0);
	check_names(-EINVAL, NULL, NULL);
	unlink(below("root/c/x.yaml"));
	CHECK(mkdir(below("root/c/x.yaml"), 0700) == 0);
	check_names(-EINVAL, NULL, NULL);
	rmdir(below("root/c/x.yaml"));
}

static void remove_all(void)
{
	static const char *const names[] = { "root/outside.yaml", "root/c",  "root",
					     "outside.yaml",	  "cmdline", "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(remove(below(names[i])) == 0);
}

int main(void)
{
	make_folder();
	test_arguments();
	test_yaml();
	test_large();
	test_hostile_files();
	remove_all();
	return CHECK_RESULT();
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a program must be and have; it is read, and nothing is attached to it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "needs/program.h"
#include "target/proc.h"

#define WORKER                                                                             \
	"dbsp-worker-" /* the names of its threads, Runtime::run(), src/circuit/runtime.rs \
			*/

int program__add(struct program *program, const char *name, enum need_verdict verdict,
		 const char *lost, const char *remedy, const char *detail)
{
	return needs__add(program->needs, NEED_PROGRAM, name, verdict, lost, remedy, "%s", detail);
}

/* What everybody may see of a program that cannot be opened: its threads' names. */
static int guess_dbsp(struct program *program, pid_t pid)
{
	int dir = proc__open(pid), workers = 0;
	char name[64], text[NEED_TEXT_MAX];
	struct proc_stat stat;
	pid_t *tids = NULL;
	size_t count = 0;

	if (dir < 0)
		return 0;
	if (proc__threads(dir, &tids, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "task/%d/stat", tids[i]);
		workers += !proc__stat(dir, name, &stat) &&
			   !strncmp(stat.comm, WORKER, strlen(WORKER));
	}
	free(tids);
	close(dir);
	snprintf(text, sizeof(text), "by the names of its threads it has %d DBSP workers", workers);
	return program__add(program, "DBSP", NEED_UNCHECKED, NULL, NULL, text);
}

/* Why it could not be opened. */
static int report_closed(struct program *program, pid_t pid, int err, const struct fail *fail)
{
	if (err == -EPERM || err == -EACCES) {
		err = program__add(program, "memory", NEED_MISSING,
				   "nothing of the program can be read",
				   "run as root (sudo), or with CAP_SYS_PTRACE", fail->text);
		return err ? err : guess_dbsp(program, pid);
	}
	if (err == -ENOEXEC)
		return program__add(program, "DBSP", NEED_MISSING, "there is nothing to profile",
				    "give the process id of a program that is built on the dbsp "
				    "crate",
				    fail->text);
	return program__add(program, "process", NEED_MISSING, "there is nothing to profile",
			    "give the process id of a program that runs", fail->text);
}

static int report_open(struct program *program)
{
	const struct elf_image *image = program->target->image;
	const char *dbsp = elf_image__dbsp_version(image);
	const char *rustc = elf_image__rustc_version(image);
	char text[NEED_TEXT_MAX];
	int err;

	snprintf(text, sizeof(text), "%d, %.400s", program->target->pid, program->target->exe);
	err = program__add(program, "process", NEED_OK, NULL, NULL, text);
	if (err)
		return err;
	snprintf(text, sizeof(text), "dbsp %s, rustc %s",
		 dbsp[0] ? dbsp : "of a checkout, which bears no version",
		 rustc[0] ? rustc : "of unknown version");
	err = program__add(program, "DBSP", NEED_OK, NULL, NULL, text);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%zu mappings, readable",
		 memory__mappings(program->target->memory, &(const struct mapping *){ NULL }));
	return program__add(program, "memory", NEED_OK, NULL, NULL, text);
}

/* 1: in another namespace than we are; 0: in the same; -1: not to be told. */
static int differs(int dir, const char *name)
{
	char own[64], its[64];
	struct stat a, b;

	snprintf(own, sizeof(own), "/proc/self/ns/%s", name);
	snprintf(its, sizeof(its), "ns/%s", name);
	if (stat(own, &a) || fstatat(dir, its, &b, 0))
		return -1;
	return a.st_ino != b.st_ino || a.st_dev != b.st_dev;
}

static int check_namespaces(struct program *program)
{
	static const char *const kinds[] = { "pid", "mnt", "user" };
	char text[NEED_TEXT_MAX] = "", all[NEED_TEXT_MAX];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (differs(program->target->proc_dir, kinds[i]) != 1)
			continue;
		strncat(text, text[0] ? ", " : "", sizeof(text) - strlen(text) - 1);
		strncat(text, kinds[i], sizeof(text) - strlen(text) - 1);
	}
	snprintf(all, sizeof(all), "of its own: %.400s, which do no harm", text);
	return program__add(program, "namespaces", NEED_OK, NULL, NULL,
			    text[0] ? all : "the same as ours");
}

static int check_threads(struct program *program)
{
	struct fail fail = { 0 };
	int err = target__check_threads(program->target, &fail);

	return program__add(program, "threads", err ? NEED_MISSING : NEED_OK,
			    "the stacks of its threads cannot be found",
			    "run as root (sudo), as the program's own user, or with "
			    "CAP_DAC_READ_SEARCH",
			    err ? fail.text : "their files can be read");
}

/* The layout that was chosen fits when circuits were read with it. */
static int report_layout(struct program *program)
{
	static const char lost[] = "nothing of the engine can be read without a layout";
	static const char remedy[] = "make one with `dbprof-bpf layout BINARY` from a build with "
				     "debug info of the same versions, and give it by --layout";
	const struct layout *layout = &program->layout;
	bool proven = program->observer && observer__workers(program->observer);
	char text[NEED_TEXT_MAX];

	if (program->layout_err)
		return program__add(program, "layout", NEED_MISSING, lost, remedy,
				    program->layout_fail.text);
	snprintf(text, sizeof(text), "%s%s", layout->source,
		 layout->exact ? ", of these very versions"
		 : proven      ? ", the nearest there is, and it fits"
			       : ", the nearest there is; whether it fits shows once there is a "
				 "circuit");
	return program__add(program, "layout", layout->exact || proven ? NEED_OK : NEED_UNCHECKED,
			    NULL, NULL, text);
}

static int report_workers(struct program *program)
{
	char text[NEED_TEXT_MAX];

	if (!program->observer && program->plan_err)
		return program__add(program, "workers", NEED_OK, NULL, NULL,
				    "their circuits, if they have any, can be read");
	if (!program->observer)
		return program__add(
			program, "workers", NEED_MISSING,
			"without the workers' circuits there is nothing to measure",
			"make a layout with `dbprof-bpf layout BINARY` from a build with "
			"debug info, and give it by --layout",
			program->observer_fail.text);
	if (!observer__workers(program->observer))
		return program__add(program, "workers", NEED_UNCHECKED, NULL, NULL,
				    "none has built its circuit yet; they are looked for while "
				    "profiling");
	snprintf(text, sizeof(text), "%zu, with circuits of %zu nodes together",
		 observer__workers(program->observer), observer__nodes(program->observer));
	return program__add(program, "workers", NEED_OK, NULL, NULL, text);
}

/* Reads the program as profiling would. */
static void look(struct program *program, const char *layout_file)
{
	const struct observer_options options = { .layout_file = layout_file };
	const struct elf_image *image = program->target->image;
	struct plan_options wishes = { .exact = true };

	program->layout_err =
		layout__choose(image, layout_file, &program->layout, &program->layout_fail);
	if (program->layout_err)
		return;
	if (observer__open(program->target->pid, &options, &program->observer,
			   &program->observer_fail))
		program->observer = NULL;
	if (program->observer) {
		program->profiled = observer__mode(program->observer) == MODE_ENGINE;
		program->needs->mode = snapshot_mode__name(observer__mode(program->observer));
	}
	wishes.profiled = program->profiled;
	program->plan_err =
		plan__make(image, &program->layout, &wishes, &program->plan, &program->plan_fail);
}

static int report(struct program *program)
{
	int err = report_open(program);

	if (!err)
		err = check_namespaces(program);
	if (!err)
		err = check_threads(program);
	if (!err)
		err = report_layout(program);
	if (!err && !program->layout_err)
		err = report_workers(program);
	if (!err && !program->layout_err)
		err = program__check_places(program);
	return err;
}

int needs__check_program(struct need_list *needs, pid_t pid, const char *layout_file)
{
	struct program *program = calloc(1, sizeof(*program));
	struct fail fail = { 0 };
	int err;

	if (!program)
		return -ENOMEM;
	program->needs = needs;
	err = target__open(pid, &program->target, &fail);
	if (err) {
		err = report_closed(program, pid, err, &fail);
	} else {
		look(program, layout_file);
		err = report(program);
	}
	observer__close(program->observer);
	target__close(program->target);
	free(program);
	return err;
}

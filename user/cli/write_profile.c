// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>

#include "cli/write_profile.h"
#include "util/atomic_file.h"
#include "util/atomic_folder.h"

static int write_file(struct profile_source *source, const struct exporter *exporter,
		      const char *path, struct fail *fail)
{
	struct atomic_file *file = NULL;
	int err = atomic_file__open(path, &file, fail);

	if (!err)
		err = exporter->write(source, atomic_file__stream(file), fail);
	if (!err)
		err = atomic_file__commit(file, fail);
	atomic_file__close(file);
	return err;
}

static int write_folder(struct profile_source *source, const struct exporter *exporter,
			const char *path, struct fail *fail)
{
	struct atomic_folder *folder = NULL;
	int err;

	if (strcmp(path, "-") == 0)
		return fail__set(
			fail, -EISDIR,
			"the format %s is a folder, which cannot go to the standard output",
			exporter->name);
	err = atomic_folder__open(path, &folder, fail);
	if (!err)
		err = exporter->write_folder(source, atomic_folder__path(folder), fail);
	if (!err)
		err = atomic_folder__commit(folder, fail);
	atomic_folder__close(folder);
	return err;
}

int write_profile(struct profile_source *source, const struct exporter *exporter, const char *path,
		  struct fail *fail)
{
	int err = exporter->write_folder ? write_folder(source, exporter, path, fail)
					 : write_file(source, exporter, path, fail);

	return err ? fail__set(fail, err, "cannot write %s: %s", path, strerror(-err)) : 0;
}

/* Length of @name without its last extension, if that is not all there is. */
static size_t without_extension(const char *name, size_t len)
{
	for (size_t i = len; i > 1 && name[i - 1] != '/'; i--)
		if (name[i - 1] == '.' && name[i - 2] != '/')
			return i - 1;
	return len;
}

int write_profile__name(const char *input, const struct exporter *exporter,
			char name[WRITE_NAME_MAX])
{
	size_t len = strlen(input);
	bool packed = len > 3 && strcmp(input + len - 3, ".gz") == 0;
	int written;

	if (strcmp(input, "-") == 0) {
		input = "profile";
		len = strlen(input);
	}
	len = without_extension(input, len);
	if (packed)
		len = without_extension(input, len);
	written = snprintf(name, WRITE_NAME_MAX, "%.*s.%s", (int)len, input, exporter->extension);
	return written < 0 || written >= WRITE_NAME_MAX ? -ENAMETOOLONG : 0;
}

const struct exporter *write_profile__format(struct argp_state *state, const char *name)
{
	const struct exporter *exporter = exporter__find(name);
	size_t count;
	const struct exporter *all = exporter__all(&count);
	char names[256] = "";

	if (exporter)
		return exporter;
	for (size_t i = 0; i < count; i++) {
		if (i)
			strncat(names, ", ", sizeof(names) - strlen(names) - 1);
		strncat(names, all[i].name, sizeof(names) - strlen(names) - 1);
	}
	argp_error(state, "there is no format '%s'; there is: %s", name, names);
	return all;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Layout files: {"dbprof_layout": 1, "dbsp": "0.354.0", "rustc": "1.95.0", "target": "x86_64",
 * "items": {"name": number, ..}}. Items that are absent are left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "layout/json_keys.h"
#include "layout/layout.h"

#define FORMAT_VERSION 1
#define FILE_MAX       65536u
#define DEPTH_MAX      8

static int take_version(json_object *root, const char *name, struct fail *fail)
{
	json_object *value;

	if (!json_object_is_type(root, json_type_object) ||
	    !json_object_object_get_ex(root, "dbprof_layout", &value))
		return fail__set(fail, -EBADMSG, "%s is no layout file: dbprof_layout is missing",
				 name);
	if (!json_object_is_type(value, json_type_int) ||
	    json_object_get_int64(value) != FORMAT_VERSION)
		return fail__set(fail, -EBADMSG,
				 "%s has layout format %s, but this program reads format %d", name,
				 json_object_to_json_string(value), FORMAT_VERSION);
	return 0;
}

/* A version or a machine's name: nothing that would need quoting. */
static int take_text(json_object *root, const char *key, const char *name, char *ret_text,
		     size_t size, struct fail *fail)
{
	static const char allowed[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz._+-";
	json_object *value;
	const char *text;

	if (!json_object_object_get_ex(root, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return fail__set(fail, -EBADMSG, "%s has no text \"%s\"", name, key);
	text = json_object_get_string(value);
	if (strspn(text, allowed) != (size_t)json_object_get_string_len(value) ||
	    strlen(text) >= size)
		return fail__set(fail, -EBADMSG, "the \"%s\" of %s is malformed", key, name);
	snprintf(ret_text, size, "%s", text);
	return 0;
}

static int take_item(json_object *items, enum layout_item item, const char *name,
		     struct layout *layout, struct fail *fail)
{
	const char *key = layout_item__name(item);
	json_object *value;

	layout->value[item] = LAYOUT_ABSENT;
	if (!json_object_object_get_ex(items, key, &value)) {
		if (!layout_item__required(item))
			return 0;
		return fail__set(fail, -EBADMSG,
				 "%s lacks the item \"%s\": make it anew from a build with debug "
				 "info",
				 name, key);
	}
	/* json-c turns what is over 64 bits into the largest number, which is none of ours. */
	if (json_object_is_type(value, json_type_int) &&
	    (json_object_get_int64(value) >= 0 && json_object_get_uint64(value) != LAYOUT_ABSENT)) {
		layout->value[item] = json_object_get_uint64(value);
		return 0;
	}
	return fail__set(fail, -EBADMSG,
			 "the item \"%s\" of %s is no whole number from 0 to %" PRIu64, key, name,
			 LAYOUT_ABSENT - 1);
}

static int take_root(json_object *root, const char *name, struct layout *layout, struct fail *fail)
{
	json_object *items;
	int err, item;

	err = take_version(root, name, fail);
	if (!err)
		err = take_text(root, "dbsp", name, layout->dbsp, sizeof(layout->dbsp), fail);
	if (!err)
		err = take_text(root, "rustc", name, layout->rustc, sizeof(layout->rustc), fail);
	if (!err)
		err = take_text(root, "target", name, layout->target, sizeof(layout->target), fail);
	if (err)
		return err;
	if (!json_object_object_get_ex(root, "items", &items) ||
	    !json_object_is_type(items, json_type_object))
		return fail__set(fail, -EBADMSG, "%s has no object \"items\"", name);
	for (item = 0; item < LAYOUT_ITEMS && !err; item++)
		err = take_item(items, (enum layout_item)item, name, layout, fail);
	return err;
}

static int parse_json(const char *text, size_t len, const char *name, json_object **ret_root,
		      struct fail *fail)
{
	json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	enum json_tokener_error error;
	json_object *root;
	char key[64];

	if (!tokener)
		return fail__set(fail, -ENOMEM, "out of memory");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	root = json_tokener_parse_ex(tokener, text, (int)len);
	error = json_tokener_get_error(tokener);
	json_tokener_free(tokener);
	if (error != json_tokener_success || memchr(text, '\0', len)) {
		json_object_put(root);
		return fail__set(fail, -EBADMSG, "%s is no JSON: %s", name,
				 error == json_tokener_continue	 ? "it ends too early"
				 : error == json_tokener_success ? "it holds a NUL byte"
								 : json_tokener_error_desc(error));
	}
	if (json_keys__duplicate(text, len, key, sizeof(key))) {
		json_object_put(root);
		return fail__set(fail, -EBADMSG, "%s has \"%s\" twice", name, key);
	}
	*ret_root = root;
	return 0;
}

int layout__from_text(const char *text, size_t len, const char *name, struct layout *ret_layout,
		      struct fail *fail)
{
	struct layout layout = { 0 };
	json_object *root = NULL;
	int err;

	if (len > FILE_MAX)
		return fail__set(fail, -EBADMSG, "%s is too large for a layout file", name);
	err = parse_json(text, len, name, &root, fail);
	if (err)
		return err;
	err = take_root(root, name, &layout, fail);
	json_object_put(root);
	if (err)
		return err;
	snprintf(layout.source, sizeof(layout.source), "%s", name);
	*ret_layout = layout;
	return 0;
}

int layout__from_file(const char *path, struct layout *ret_layout, struct fail *fail)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t len;
	int err = 0;

	if (!file)
		return fail__set(fail, -errno, "cannot open the layout file %s: %s", path,
				 strerror(errno));
	text = malloc(FILE_MAX + 1);
	if (!text) {
		err = fail__set(fail, -ENOMEM, "out of memory");
		goto out;
	}
	errno = 0;
	len = fread(text, 1, FILE_MAX + 1, file);
	if (ferror(file))
		err = fail__set(fail, errno ? -errno : -EIO, "cannot read the layout file %s: %s",
				path, strerror(errno ? errno : EIO));
	else
		err = layout__from_text(text, len, path, ret_layout, fail);
out:
	free(text);
	fclose(file);
	return err;
}

static int compare_items(const void *a, const void *b)
{
	return strcmp(layout_item__name(*(const enum layout_item *)a),
		      layout_item__name(*(const enum layout_item *)b));
}

int layout__write(const struct layout *layout, FILE *out)
{
	enum layout_item sorted[LAYOUT_ITEMS];
	const char *separator = "";
	int i;

	for (i = 0; i < LAYOUT_ITEMS; i++)
		sorted[i] = (enum layout_item)i;
	qsort(sorted, LAYOUT_ITEMS, sizeof(sorted[0]), compare_items);
	errno = 0;
	fprintf(out, "{\n  \"dbprof_layout\": %d,\n  \"dbsp\": \"%s\",\n  \"rustc\": \"%s\",\n",
		FORMAT_VERSION, layout->dbsp, layout->rustc);
	fprintf(out, "  \"target\": \"%s\",\n  \"items\": {", layout->target);
	for (i = 0; i < LAYOUT_ITEMS; i++) {
		uint64_t value = layout__get(layout, sorted[i]);

		if (value == LAYOUT_ABSENT)
			continue;
		fprintf(out, "%s\n    \"%s\": %" PRIu64, separator, layout_item__name(sorted[i]),
			value);
		separator = ",";
	}
	fprintf(out, "\n  }\n}\n");
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

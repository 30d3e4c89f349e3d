// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "state/metric_union.h"

#define LIST_MAX (4u << 20) /* bytes; the engine's has some twenty thousand */

/* The list as text, an array; free it. */
static int list_text(struct profile_source *source, char **ret_text, size_t *ret_len,
		     struct fail *fail)
{
	char *text = calloc(1, LIST_MAX);
	FILE *out = text ? fmemopen(text, LIST_MAX, "w") : NULL;
	struct json_writer json;
	int err;

	if (!out) {
		free(text);
		return -ENOMEM;
	}
	json__begin(&json, out);
	json__array_begin(&json);
	err = profile_source__metrics(source, &json, fail);
	json__array_end(&json);
	if (!err)
		err = json__end(&json);
	if (!err && fflush(out) != 0)
		err = -errno;
	*ret_len = err ? 0 : (size_t)ftell(out);
	fclose(out);
	if (err == -ENOSPC)
		err = fail__set(fail, -EFBIG, "its list of metrics is too long");
	if (err)
		free(text);
	else
		*ret_text = text;
	return err;
}

static int parse(struct profile_source *source, struct json_object **ret_list, struct fail *fail)
{
	struct json_tokener *tokener;
	struct json_object *list;
	char *text = NULL;
	size_t len = 0;
	int err = list_text(source, &text, &len, fail);

	if (err)
		return err;
	tokener = json_tokener_new();
	list = tokener ? json_tokener_parse_ex(tokener, text, (int)len) : NULL;
	if (tokener)
		json_tokener_free(tokener);
	free(text);
	if (!list || !json_object_is_type(list, json_type_array)) {
		json_object_put(list);
		return fail__set(fail, -EPROTO, "its list of metrics is none");
	}
	*ret_list = list;
	return 0;
}

/* "" when it has none. */
static const char *name_of(struct json_object *metric)
{
	struct json_object *name;

	if (!json_object_is_type(metric, json_type_object) ||
	    !json_object_object_get_ex(metric, "name", &name) ||
	    !json_object_is_type(name, json_type_string))
		return "";
	return json_object_get_string(name);
}

static void write_element(struct json_object *metric, struct json_writer *json)
{
	size_t len;
	const char *text = json_object_to_json_string_length(
		metric, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	if (text)
		json__elements(json, text, len);
	else if (!json->error)
		json->error = -ENOMEM;
}

static int write_both(struct json_object *first, struct json_object *second,
		      struct json_writer *json)
{
	struct json_object *names = json_object_new_object();
	size_t count = json_object_array_length(first);

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct json_object *metric = json_object_array_get_idx(first, i);

		write_element(metric, json);
		json_object_object_add(names, name_of(metric), NULL);
	}
	count = json_object_array_length(second);
	for (size_t i = 0; i < count; i++) {
		struct json_object *metric = json_object_array_get_idx(second, i);

		if (!json_object_object_get_ex(names, name_of(metric), NULL))
			write_element(metric, json);
	}
	json_object_put(names);
	return json->error;
}

int metric_union__write(struct profile_source *first, struct profile_source *second,
			struct json_writer *json, struct fail *fail)
{
	struct json_object *lists[2] = { NULL, NULL };
	int err = parse(first, &lists[0], fail);

	if (!err)
		err = parse(second, &lists[1], fail);
	if (!err)
		err = write_both(lists[0], lists[1], json);
	json_object_put(lists[0]);
	json_object_put(lists[1]);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A comparison for programs. Times are nanoseconds. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "export/diff.h"
#include "util/json_writer.h"

/* A number with three digits behind the point, which is a part of a nanosecond. */
static void put_number(struct json_writer *json, const char *key, double value)
{
	char text[64];
	int len;

	json__key(json, key);
	if (!isfinite(value)) {
		json__null(json);
		return;
	}
	len = snprintf(text, sizeof(text), "%.3f", value);
	json__elements(json, text, (size_t)len);
}

/* The same value before and after, of all workers in the window, and for a step or second. */
static void put_pair(struct json_writer *json, const struct diff *diff, double before, double after)
{
	double left = diff__before(diff, before), right = diff__after(diff, after);

	put_number(json, "before", left);
	put_number(json, "after", right);
	put_number(json, "change", right - left);
	put_number(json, "ratio", left > 0 ? right / left : NAN);
	put_number(json, "total_before", before);
	put_number(json, "total_after", after);
}

static void put_side(struct json_writer *json, const char *key, const char *name,
		     const struct diff_side *side)
{
	json__member_object_begin(json, key);
	json__member_string(json, "file", name);
	json__member_uint(json, "workers", side->workers);
	json__member_uint(json, "steps", side->steps);
	json__member_uint(json, "window", side->window_ns);
	json__object_end(json);
}

static void put_rows(struct json_writer *json, const struct diff *diff)
{
	json__member_array_begin(json, "circuit");
	for (unsigned int row = 0; row < DIFF_ROWS; row++) {
		char name[64];

		diff_row__name(row, name, sizeof(name));
		json__object_begin(json);
		json__member_string(json, "what", name);
		json__member_bool(json, "measured_before", diff->before.has_row[row]);
		json__member_bool(json, "measured_after", diff->after.has_row[row]);
		put_pair(json, diff, diff->before.row_ns[row], diff->after.row_ns[row]);
		json__object_end(json);
	}
	json__array_end(json);
}

static void put_parts(struct json_writer *json, const struct diff *diff,
		      const struct diff_entry *entry)
{
	static const char *const names[DIFF_PARTS] = { "cpu", "preempted", "run_queue", "blocked" };

	for (size_t part = 0; part < DIFF_PARTS; part++) {
		if (!diff__has_part(diff, (unsigned int)part))
			continue;
		json__member_object_begin(json, names[part]);
		put_pair(json, diff, entry->before ? entry->before->part_ns[part] : 0,
			 entry->after ? entry->after->part_ns[part] : 0);
		json__object_end(json);
	}
}

static void put_entry(struct json_writer *json, const struct diff *diff,
		      const struct diff_entry *entry)
{
	const struct diff_node *node = entry->after ? entry->after : entry->before;
	char id[NODE_ID_TEXT_MAX];

	json__object_begin(json);
	node_path__format(&node->id, id);
	json__member_string(json, "node", id);
	if (entry->before && entry->after &&
	    node_path__compare(&entry->before->id, &entry->after->id)) {
		node_path__format(&entry->before->id, id);
		json__member_string(json, "node_before", id);
	}
	json__member_string(json, "label", node->label);
	json__member_string(json, "in",
			    !entry->after    ? "before"
			    : !entry->before ? "after"
					     : "both");
	json__member_bool(json, "noise", entry->noise);
	put_number(json, "interval", entry->interval_ns);
	json__member_uint(json, "count_before", entry->before ? entry->before->count : 0);
	json__member_uint(json, "count_after", entry->after ? entry->after->count : 0);
	put_pair(json, diff, entry->before ? entry->before->wall_ns : 0,
		 entry->after ? entry->after->wall_ns : 0);
	put_parts(json, diff, entry);
	json__object_end(json);
}

int diff__write_json(const struct diff *diff, const struct diff_show *show, FILE *out)
{
	struct json_writer json;
	int err;

	json__begin(&json, out);
	json__object_begin(&json);
	json__member_string(&json, "per", diff->per_second ? "second" : "step");
	put_side(&json, "before", show->names[0], &diff->before);
	put_side(&json, "after", show->names[1], &diff->after);
	put_rows(&json, diff);
	json__member_array_begin(&json, "nested_circuits");
	for (size_t i = 0; i < diff->circuit_count; i++)
		put_entry(&json, diff, &diff->circuits[i]);
	json__array_end(&json);
	json__member_array_begin(&json, "operators");
	for (size_t i = 0; i < diff->count; i++)
		put_entry(&json, diff, &diff->entries[i]);
	json__array_end(&json);
	json__object_end(&json);
	err = json__end(&json);
	if (!err && fputc('\n', out) == EOF)
		err = errno ? -errno : -EIO;
	return err;
}

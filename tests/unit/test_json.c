// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The JSON writer, and the encodings of the engine's values.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/json_parts.h"
#include "check.h"
#include "util/json_writer.h"
#include "util/utf8.h"

struct output {
	FILE *stream;
	char *text;
	size_t size;
	struct json_writer json;
};

static void begin(struct output *output)
{
	output->text = NULL;
	output->stream = open_memstream(&output->text, &output->size);
	json__begin(&output->json, output->stream);
}

static void end(struct output *output, const char *wanted)
{
	CHECK(json__end(&output->json) == 0);
	fclose(output->stream);
	CHECK_TEXT(output->text, wanted);
	free(output->text);
}

static void check_string(const char *text, const char *wanted)
{
	struct output output;

	begin(&output);
	json__string(&output.json, text);
	end(&output, wanted);
}

static void test_strings(void)
{
	check_string("", "\"\"");
	check_string(NULL, "null");
	check_string("a/b", "\"a/b\"");
	check_string("say \"hi\"\\", "\"say \\\"hi\\\"\\\\\"");
	check_string("\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
	check_string("gr\xc3\xbc\xc3\x9f \xf0\x9f\xa6\x80",
		     "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\xa6\x80\"");
	/* as String::from_utf8_lossy: one U+FFFD for each maximal broken part */
	check_string("a\xff\xfe", "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
	check_string("\xe2\x82", "\"\xef\xbf\xbd\"");
	check_string("\xe2\x82z", "\"\xef\xbf\xbdz\"");
	check_string("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	check_string("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	check_string("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_structure(void)
{
	struct output output;
	static const char table[] = "\n\t{ \"a b\": 1,\n\"q\\\" ]\": [ ] } ,2\n";

	begin(&output);
	json__object_begin(&output.json);
	json__key(&output.json, "a");
	json__array_begin(&output.json);
	json__uint(&output.json, UINT64_MAX);
	json__int(&output.json, INT64_MIN);
	json__bool(&output.json, false);
	json__array_begin(&output.json);
	json__array_end(&output.json);
	json__elements(&output.json, table, sizeof(table) - 1);
	json__elements(&output.json, " \n", 2);
	json__array_end(&output.json);
	json__key(&output.json, "b");
	json__object_begin(&output.json);
	json__object_end(&output.json);
	json__object_end(&output.json);
	end(&output, "{\"a\":[18446744073709551615,-9223372036854775808,false,[],"
		     "{\"a b\":1,\"q\\\" ]\":[]},2],\"b\":{}}");
}

static void test_errors(void)
{
	struct json_writer json;
	FILE *full = fopen("/dev/full", "w");

	if (CHECK(full != NULL)) {
		setvbuf(full, NULL, _IONBF, 0);
		json__begin(&json, full);
		json__string(&json, "x");
		json__string(&json, "y");
		CHECK(json__end(&json) == -ENOSPC);
		fclose(full);
	}
	json__begin(&json, stdout);
	json__array_end(&json);
	CHECK(json__end(&json) == -EINVAL);
	json__begin(&json, stdout);
	json.depth = 1;
	CHECK(json__end(&json) == -EINVAL);
}

static void check_value(struct value value, const char *wanted)
{
	struct output output;

	begin(&output);
	json_value(&output.json, &value);
	end(&output, wanted);
}

static void test_values(void)
{
	struct value items[] = { value__int(1), value__count(UINT64_MAX) };
	struct value_entry entries[] = { { "max", { .kind = VALUE_BYTES, .number = 9 } },
					 { "used", { .kind = VALUE_ARRAY } } };
	struct value array = { .kind = VALUE_ARRAY, .array = { items, 2 } };
	struct value map = { .kind = VALUE_MAP, .map = { entries, 2 } };
	struct value counts = { .kind = VALUE_CACHE_COUNTS, .cache_counts = { 1, 2, { 3, 4 } } };

	check_value(value__percent(1, 0),
		    "{\"type\":\"percent\",\"value\":{\"numerator\":1,\"denominator\":0}}");
	check_value(value__duration(duration__from_nanos(UINT64_MAX)),
		    "{\"type\":\"duration\",\"value\":{\"secs\":18446744073,\"nanos\":709551615}}");
	check_value((struct value){ .kind = VALUE_BOOL, .boolean = true },
		    "{\"type\":\"bool\",\"value\":true}");
	check_value((struct value){ .kind = VALUE_STRING, .string = "\"" },
		    "{\"type\":\"string\",\"value\":\"\\\"\"}");
	check_value(counts, "{\"type\":\"cachecounts\",\"value\":{\"count\":1,\"bytes\":2,"
			    "\"elapsed\":{\"secs\":3,\"nanos\":4}}}");
	check_value(array, "[{\"type\":\"int\",\"value\":1},"
			   "{\"type\":\"count\",\"value\":18446744073709551615}]");
	check_value(map, "{\"max\":{\"type\":\"bytes\",\"value\":9},\"used\":[]}");
}

int main(void)
{
	test_strings();
	test_structure();
	test_errors();
	test_values();
	return CHECK_RESULT();
}

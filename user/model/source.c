// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/source.h"

int profile_source__visit(struct profile_source *source, const struct profile_visitor *visitor,
			  void *context, struct fail *fail)
{
	return source->ops->visit(source, visitor, context, fail);
}

int profile_source__metrics(struct profile_source *source, struct json_writer *json,
			    struct fail *fail)
{
	return source->ops->metrics ? source->ops->metrics(source, json, fail) : 0;
}

int profile_source__members(struct profile_source *source, struct json_writer *json,
			    struct fail *fail)
{
	return source->ops->members ? source->ops->members(source, json, fail) : 0;
}

void profile_source__close(struct profile_source *source)
{
	if (source)
		source->ops->close(source);
}

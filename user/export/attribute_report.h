/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single metrics and totals, as lines for people or as JSON.
 */
#ifndef DBPROF_EXPORT_ATTRIBUTE_REPORT_H
#define DBPROF_EXPORT_ATTRIBUTE_REPORT_H

#include <stdio.h>

#include "model/attribute.h"

/*
 * Writes the readings that the query asks for, one a line, as they come: worker, node, value as
 * the engine prints it, labels, operator. As JSON: an array of {"worker":,"node":,"metric_id":,
 * "labels":,"value":}. With @as_bytes, as attribute__profile_as_bytes()
 * tells them. *@ret_count is how many; of none, nothing is written. Returns 0, or a
 * negative errno with its sentence in
 * @fail when there is more to say than that the output cannot be written.
 */
int attribute_report__readings(struct profile_source *source, const struct attribute_query *query,
			       bool as_bytes, bool json, FILE *out, size_t *ret_count,
			       struct fail *fail);

/*
 * Writes one total: the exact number and the engine's text of it. @kind is VALUE_BYTES or
 * VALUE_COUNT. Errors are those of the stream.
 */
void attribute_report__total(const char *metric, enum value_kind kind,
			     const struct attribute_total *total, bool json, FILE *out);

#endif

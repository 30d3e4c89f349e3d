// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>

#include "util/fail.h"

int fail__set(struct fail *fail, int err, const char *format, ...)
{
	va_list args;

	if (!fail || fail->text[0])
		return err;
	va_start(args, format);
	vsnprintf(fail->text, sizeof(fail->text), format, args);
	va_end(args);
	return err;
}

void fail__clear(struct fail *fail)
{
	if (fail)
		fail->text[0] = '\0';
}

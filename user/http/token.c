// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "http/secret_file.h"
#include "http/token.h"

#define SCHEME	 "Bearer "
#define FILE_MAX (TOKEN_MAX + 64)

static const char *skip_spaces(const char *text)
{
	return text + strspn(text, " \t");
}

static int take(const char *path, const char *text, size_t len, struct token *token,
		struct fail *fail)
{
	while (len > 0 && strchr(" \t\r\n", text[len - 1]) && text[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return fail__set(fail, -EINVAL,
					 "%s must hold the token alone, in one line of visible "
					 "ASCII characters",
					 path);
	if (len < TOKEN_MIN || len > TOKEN_MAX)
		return fail__set(fail, -EINVAL,
				 "the token in %s has %zu characters; %d to %d are needed", path,
				 len, TOKEN_MIN, TOKEN_MAX);
	memset(token, 0, sizeof(*token));
	memcpy(token->text, text, len);
	return 0;
}

int token__read(const char *path, struct token *ret_token, struct fail *fail)
{
	char *text;
	size_t len;
	int err = secret_file__read(path, "the token", true, FILE_MAX, &text, &len, fail);

	if (err)
		return err;
	err = take(path, text, len, ret_token, fail);
	secret_file__free(text, len);
	return err;
}

bool token__allows(const struct token *token, const char *authorization)
{
	char given[TOKEN_MAX + 1] = { 0 };
	volatile unsigned char differs = 0;
	size_t len;

	if (!authorization || strncasecmp(authorization, SCHEME, strlen(SCHEME)) != 0)
		return false;
	authorization = skip_spaces(authorization + strlen(SCHEME));
	len = strlen(authorization);
	if (len < TOKEN_MIN || len > TOKEN_MAX)
		return false;
	memcpy(given, authorization, len);
	for (size_t i = 0; i < sizeof(given); i++)
		differs |= (unsigned char)(given[i] ^ token->text[i]);
	explicit_bzero(given, sizeof(given));
	return differs == 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "state/url.h"

#define PROFILE_PATH "/dump_json_profile"

bool url__is_http(const char *text)
{
	return !strncasecmp(text, "http://", 7) || !strncasecmp(text, "https://", 8);
}

bool url__is_other(const char *text)
{
	const char *end = strstr(text, "://");

	if (!end || end == text || url__is_http(text))
		return false;
	for (const char *c = text; c < end; c++)
		if (!isalnum((unsigned char)*c) && !strchr("+-.", *c))
			return false;
	return true;
}

/* The whole URL as curl writes it, in memory of our own. */
static int get(CURLU *url, char **ret_text)
{
	char *text = NULL;

	if (curl_url_get(url, CURLUPART_URL, &text, 0))
		return -ENOMEM;
	*ret_text = strdup(text);
	curl_free(text);
	return *ret_text ? 0 : -ENOMEM;
}

static int complete_path(CURLU *url)
{
	char *path = NULL;
	int err = 0;

	if (curl_url_get(url, CURLUPART_PATH, &path, 0))
		return -ENOMEM;
	if (!strcmp(path, "/") && curl_url_set(url, CURLUPART_PATH, PROFILE_PATH, 0))
		err = -ENOMEM;
	curl_free(path);
	return err;
}

int url__parse(const char *text, char **ret_url, char **ret_shown, struct fail *fail)
{
	static const CURLUPart secrets[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS,
					     CURLUPART_QUERY, CURLUPART_FRAGMENT };
	CURLU *url = curl_url();
	char *whole = NULL;
	CURLUcode code;
	int err;

	if (!url)
		return -ENOMEM;
	code = curl_url_set(url, CURLUPART_URL, text, 0);
	if (code) {
		curl_url_cleanup(url);
		return fail__set(fail, -EINVAL, "it is no URL: %s", curl_url_strerror(code));
	}
	err = complete_path(url);
	if (!err)
		err = get(url, &whole);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		curl_url_set(url, secrets[i], NULL, 0);
	if (!err)
		err = get(url, ret_shown);
	curl_url_cleanup(url);
	if (err) {
		free(whole);
		return err;
	}
	*ret_url = whole;
	return 0;
}

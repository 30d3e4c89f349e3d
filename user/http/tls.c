// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/secret_file.h"
#include "http/tls.h"

#define PEM_MAX		 (256 << 10)
#define CERTIFICATES_MAX 16
#define DAY_MAX		 32

static const char *day(time_t when, char text[DAY_MAX])
{
	struct tm tm;

	if (!gmtime_r(&when, &tm) || !strftime(text, DAY_MAX, "%Y-%m-%d %H:%M UTC", &tm))
		snprintf(text, DAY_MAX, "an unknown date");
	return text;
}

static gnutls_datum_t datum(char *text, size_t len)
{
	return (gnutls_datum_t){ .data = (unsigned char *)text, .size = (unsigned int)len };
}

/* Whether the key is that of the first certificate. */
static int check_pair(const char *path, const char *key_path, const struct tls *tls,
		      struct fail *fail)
{
	gnutls_datum_t cert = datum(tls->cert, tls->cert_len), key = datum(tls->key, tls->key_len);
	gnutls_certificate_credentials_t credentials;
	int code = gnutls_certificate_allocate_credentials(&credentials);

	if (code < 0)
		return -ENOMEM;
	code = gnutls_certificate_set_x509_key_mem2(credentials, &cert, &key, GNUTLS_X509_FMT_PEM,
						    NULL, 0);
	gnutls_certificate_free_credentials(credentials);
	if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
		return fail__set(fail, -EINVAL,
				 "the key in %s is not that of the certificate in %s", key_path,
				 path);
	if (code < 0)
		return fail__set(
			fail, -EINVAL,
			"cannot use the key in %s, which must be PEM without a password: %s",
			key_path, gnutls_strerror(code));
	return 0;
}

static int check_time(const char *path, gnutls_x509_crt_t certificate, struct tls *tls,
		      struct fail *fail)
{
	time_t from = gnutls_x509_crt_get_activation_time(certificate);
	time_t to = gnutls_x509_crt_get_expiration_time(certificate);
	time_t now = time(NULL);
	char text[DAY_MAX];

	if (to < now)
		return fail__set(fail, -EKEYEXPIRED,
				 "the certificate in %s has expired on %s: renew it", path,
				 day(to, text));
	if (from > now)
		return fail__set(fail, -EKEYEXPIRED, "the certificate in %s is not valid before %s",
				 path, day(from, text));
	if (to < tls->expires)
		tls->expires = to;
	return 0;
}

static int check_certificates(const char *path, struct tls *tls, struct fail *fail)
{
	gnutls_x509_crt_t certificates[CERTIFICATES_MAX];
	unsigned int count = CERTIFICATES_MAX;
	gnutls_datum_t cert = datum(tls->cert, tls->cert_len);
	int code = gnutls_x509_crt_list_import(certificates, &count, &cert, GNUTLS_X509_FMT_PEM,
					       GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
	int err = 0;

	if (code < 0)
		return fail__set(fail, -EINVAL, "cannot read a certificate in PEM from %s: %s",
				 path, gnutls_strerror(code));
	tls->expires = gnutls_x509_crt_get_expiration_time(certificates[0]);
	for (unsigned int i = 0; i < count; i++) {
		if (!err)
			err = check_time(path, certificates[i], tls, fail);
		gnutls_x509_crt_deinit(certificates[i]);
	}
	return err;
}

int tls__load(const char *cert, const char *key, struct tls *ret_tls, struct fail *fail)
{
	struct tls tls = { 0 };
	int err = secret_file__read(cert, "the certificate", false, PEM_MAX, &tls.cert,
				    &tls.cert_len, fail);

	if (!err)
		err = secret_file__read(key, "the key", true, PEM_MAX, &tls.key, &tls.key_len,
					fail);
	if (!err)
		err = check_certificates(cert, &tls, fail);
	if (!err)
		err = check_pair(cert, key, &tls, fail);
	if (err)
		tls__clear(&tls);
	else
		*ret_tls = tls;
	return err;
}

void tls__clear(struct tls *tls)
{
	secret_file__free(tls->cert, tls->cert_len);
	secret_file__free(tls->key, tls->key_len);
	*tls = (struct tls){ 0 };
}

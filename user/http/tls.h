/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The certificate and key of the listener, looked at before anybody is served with them.
 */
#ifndef DBPROF_HTTP_TLS_H
#define DBPROF_HTTP_TLS_H

#include <stddef.h>
#include <time.h>

#include "util/fail.h"

/* Versions and ciphers that are spoken, as GnuTLS has it. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

struct tls {
	char *cert; /* PEM */
	size_t cert_len;
	char *key;
	size_t key_len;
	time_t expires; /* the first of the certificates to do so */
};

/*
 * Reads both files. The key must fit the certificate and be safe (http/secret_file.h); the
 * certificates must be valid now. Returns 0, or a negative errno with a sentence: -EKEYEXPIRED,
 * -EINVAL for what is no PEM or does not fit, or the error of the file.
 */
int tls__load(const char *cert, const char *key, struct tls *ret_tls, struct fail *fail);
void tls__clear(struct tls *tls);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon answers; the context of each is the struct serve. */
#ifndef DBPROF_SERVE_ANSWERS_H
#define DBPROF_SERVE_ANSWERS_H

#include "http/http.h"

void answer_metrics(struct http_request *request, void *context);
void answer_processes(struct http_request *request, void *context);
/* GET /v1/profile?pid=N&seconds=S&format=F */
void answer_profile(struct http_request *request, void *context);
/* GET /debug/pprof/profile?seconds=S&pid=N, as Go programs have it. */
void answer_pprof(struct http_request *request, void *context);

#endif

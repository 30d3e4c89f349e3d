/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What Feldera calls a pipeline, as the configuration file that it starts the process with tells
 * (crates/pipeline-manager/src/runner/local_runner.rs, feldera-types/src/config.rs).
 */
#ifndef DBPROF_TARGET_PIPELINE_H
#define DBPROF_TARGET_PIPELINE_H

struct pipeline_names {
	char *id;   /* the UUID, as the label "pipeline" of Feldera's own metrics; NULL: unknown */
	char *name; /* the user's name of it, as "pipeline_name"; NULL: unknown */
};

/*
 * Reads the names of the process whose folder of /proc is @dir. Returns 0; -ENODATA when it was
 * not started with --config-file or neither name is known; or a negative errno. Free them with
 * pipeline_names__clear().
 */
int pipeline_names__read(int dir, struct pipeline_names *ret_names);
void pipeline_names__clear(struct pipeline_names *names);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "session/namespaces.h"
#include "target/proc.h"

bool namespace__is_hosts(enum namespace_kind kind)
{
	/* The host's have fixed numbers: include/linux/proc_ns.h. */
	static const struct {
		const char *path;
		ino_t inode;
	} hosts[] = {
		[NAMESPACE_PID] = { "/proc/self/ns/pid", 0xEFFFFFFC },
		[NAMESPACE_USER] = { "/proc/self/ns/user", 0xEFFFFFFD },
	};
	struct stat file;

	return stat(hosts[kind].path, &file) || file.st_ino == hosts[kind].inode;
}

bool namespace__has_proc(void)
{
	char link[32];
	ssize_t len = readlink("/proc/self", link, sizeof(link) - 1);

	if (len <= 0)
		return false;
	link[len] = '\0';
	return atoi(link) == getpid();
}

bool namespace__clocks_differ(void)
{
	int self = proc__open(getpid());
	bool differ = self >= 0 && proc__clock_differs(self, NULL);

	if (self >= 0)
		close(self);
	return differ;
}

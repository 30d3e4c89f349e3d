// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch.h"

static void run(char **command, int error_pipe)
{
	sigset_t none;
	int err;

	/* The profiler blocks signals for itself, not for the program. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		execvp(command[0], command);
	err = errno;
	if (write(error_pipe, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* The errno of a failed exec; 0 once the exec has closed the pipe. */
static int exec_error(int pipe_end)
{
	int err = 0;
	ssize_t len;

	do
		len = read(pipe_end, &err, sizeof(err));
	while (len < 0 && errno == EINTR);
	return len == (ssize_t)sizeof(err) ? err : 0;
}

int launch__start(char **command, pid_t *ret_pid, struct fail *fail)
{
	int ends[2], status, err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(ends[0]);
		close(ends[1]);
		return fail__set(fail, err, "no process can be started: %s", strerror(-err));
	}
	if (!pid)
		run(command, ends[1]);
	close(ends[1]);
	err = exec_error(ends[0]);
	close(ends[0]);
	if (err) {
		waitpid(pid, NULL, 0);
		return fail__set(fail, -err, "%s cannot be started: %s", command[0], strerror(err));
	}
	/* It is traced, so that it stops with SIGTRAP when the exec is done. */
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return fail__set(fail, -ECHILD, "%s ended before it could be profiled", command[0]);
	*ret_pid = pid;
	return 0;
}

int launch__release(pid_t pid)
{
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) ? -errno : 0;
}

void launch__abort(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int launch__wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

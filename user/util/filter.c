// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/filter.h"

#define NANOS_PER_MILLI 1000000u
#define PIPES		3 /* by the child's descriptor: its input, output and errors */
#define CHUNK		65536

extern char **environ;

struct filter {
	int ours[PIPES];   /* our ends, -1 when closed */
	int theirs[PIPES]; /* the child's ends */
	pid_t pid;
	const char *input;
	size_t left; /* of the input */
	FILE *out;
	char *message;
	size_t message_len;
};

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_pipes(struct filter *filter)
{
	for (int i = 0; i < PIPES; i++)
		filter->ours[i] = filter->theirs[i] = -1;
	for (int i = 0; i < PIPES; i++) {
		int ends[2], child = i == STDIN_FILENO ? 0 : 1;

		if (pipe2(ends, O_CLOEXEC))
			return -errno;
		filter->theirs[i] = ends[child];
		filter->ours[i] = ends[!child];
		/* One that stands in the way of dup2() would lose its close-on-exec there. */
		if (ends[child] < PIPES || fcntl(ends[!child], F_SETFL, O_NONBLOCK))
			return ends[child] < PIPES ? -EBADF : -errno;
	}
	return 0;
}

/* With the signals of a program that a shell has started. */
static int spawn(struct filter *filter, const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int err;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawnattr_init(&attributes);
	if (err) {
		posix_spawn_file_actions_destroy(&actions);
		return -err;
	}
	for (int i = 0; i < PIPES && !err; i++)
		err = posix_spawn_file_actions_adddup2(&actions, filter->theirs[i], i);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (!err)
		err = posix_spawnp(&filter->pid, argv[0], &actions, &attributes,
				   (char *const *)argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; i < PIPES; i++)
		close_one(&filter->theirs[i]);
	return -err;
}

static bool try_again(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static int feed(struct filter *filter)
{
	ssize_t len = write(filter->ours[STDIN_FILENO], filter->input, filter->left);

	if (len < 0 && try_again())
		return 0;
	/* A child that wants no more may still be fine; its exit status tells. */
	if (len < 0 && errno != EPIPE)
		return -errno;
	filter->input += len > 0 ? len : 0;
	filter->left -= len > 0 ? (size_t)len : 0;
	if (len < 0 || filter->left == 0)
		close_one(&filter->ours[STDIN_FILENO]);
	return 0;
}

static void keep_message(struct filter *filter, const char *text, size_t len)
{
	for (size_t i = 0; i < len && filter->message_len + 1 < FILTER_MESSAGE_MAX; i++)
		filter->message[filter->message_len++] = (unsigned char)text[i] < ' ' ? ' '
										      : text[i];
	filter->message[filter->message_len] = '\0';
}

static int drain(struct filter *filter, int which)
{
	char chunk[CHUNK];
	ssize_t len = read(filter->ours[which], chunk, sizeof(chunk));

	if (len < 0)
		return try_again() ? 0 : -errno;
	if (len == 0) {
		close_one(&filter->ours[which]);
		return 0;
	}
	if (which == STDERR_FILENO)
		keep_message(filter, chunk, (size_t)len);
	else if (fwrite(chunk, 1, (size_t)len, filter->out) != (size_t)len)
		return errno ? -errno : -EIO;
	return 0;
}

static int transfer(struct filter *filter, uint64_t deadline)
{
	int err = 0;

	while (!err && (filter->ours[STDOUT_FILENO] >= 0 || filter->ours[STDERR_FILENO] >= 0)) {
		struct pollfd polled[PIPES];
		uint64_t now = clock__now();

		if (now >= deadline)
			return -ETIMEDOUT;
		for (int i = 0; i < PIPES; i++)
			polled[i] = (struct pollfd){ .fd = filter->ours[i],
						     .events = i ? POLLIN : POLLOUT };
		if (poll(polled, PIPES, (int)((deadline - now) / NANOS_PER_MILLI) + 1) < 0 &&
		    errno != EINTR)
			return -errno;
		errno = 0;
		if (polled[STDIN_FILENO].revents)
			err = feed(filter);
		for (int i = STDOUT_FILENO; i < PIPES && !err; i++)
			if (polled[i].revents)
				err = drain(filter, i);
	}
	return err;
}

/* Whether the child has ended; its status stays for reap(). */
static bool has_ended(const struct filter *filter, uint64_t deadline)
{
	const struct timespec pause = { .tv_nsec = NANOS_PER_MILLI };
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (!waitid(P_PID, (id_t)filter->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
		    info.si_pid)
			return true;
		if (clock__now() >= deadline)
			return false;
		nanosleep(&pause, NULL);
	}
}

static int reap(struct filter *filter, int err, uint64_t deadline)
{
	int status = 0;

	/* Its outputs are closed then, so that it is about to end. */
	if (!err && !has_ended(filter, deadline))
		err = -ETIMEDOUT;
	if (err)
		kill(filter->pid, SIGKILL);
	while (waitpid(filter->pid, &status, 0) < 0)
		if (errno != EINTR)
			return err ? err : -errno;
	if (err)
		return err;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

int filter__run(const char *const argv[], const char *input, size_t size, FILE *out,
		uint64_t timeout_ns, char message[FILTER_MESSAGE_MAX])
{
	struct filter filter = { .input = input, .left = size, .out = out, .message = message };
	uint64_t deadline = clock__now() + timeout_ns;
	int err = open_pipes(&filter);

	message[0] = '\0';
	if (!err)
		err = spawn(&filter, argv);
	if (!err && size == 0)
		close_one(&filter.ours[STDIN_FILENO]);
	if (!err)
		err = reap(&filter, transfer(&filter, deadline), deadline);
	for (int i = 0; i < PIPES; i++) {
		close_one(&filter.ours[i]);
		close_one(&filter.theirs[i]);
	}
	return err;
}

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the program needs of the user and of the kernel, and what it says when that is missing."""

import json
import shutil
import subprocess

import pytest
from harness import COMPLETE, FAILED, PROGRAM, public_copy, public_folder, target_path
from profiles import reading, workers

NOBODY, SOMEBODY = 65534, 65533
ENOUGH = ["bpf", "perfmon", "sys_ptrace"]
SHORT = ["--duration", "300ms"]


def as_user(user, capabilities=()):
    """Runs what follows as a user with just these capabilities."""
    listed = ",".join(f"+{name}" for name in capabilities)
    change = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    return change + ([f"--inh-caps={listed}", f"--ambient-caps={listed}"] if listed else [])


def without(*capabilities):
    """Runs what follows as a root that lacks capabilities."""
    dropped = ",".join(f"-{name}" for name in capabilities)
    return ["setpriv", f"--bounding-set={dropped}"]


@pytest.fixture
def public(lab):
    """A folder with the program and the target for any user; anybody may write into it."""
    folder = public_folder()
    public_copy(PROGRAM, folder)
    public_copy(target_path(), folder)
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


class TestPrivileges:
    def test_not_root(self, lab, public, idle):
        output = public / "ours.json"
        process = lab.run(
            "--pid", idle.pid, "-o", output, program=public / "dbprof-bpf", prefix=as_user(NOBODY)
        )
        assert process.popen.returncode == FAILED, process.describe()
        [sentence] = process.lines["stderr"]
        for name in ("CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "root"):
            assert name in sentence
        assert not output.exists()

    @pytest.mark.parametrize(
        "dropped, named",
        [
            (["bpf", "sys_admin"], ["CAP_BPF"]),
            (["perfmon", "sys_admin"], ["CAP_PERFMON"]),
            (["sys_ptrace"], ["CAP_SYS_PTRACE"]),
            (["bpf", "perfmon", "sys_admin"], ["CAP_BPF", "CAP_PERFMON"]),
        ],
        ids=lambda names: " ".join(names),
    )
    def test_missing_are_named(self, refused, idle, dropped, named):
        sentence = refused("--pid", idle.pid, *SHORT, prefix=without(*dropped), says=named)
        for name in {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"} - set(named):
            assert name not in sentence

    def test_three_are_enough(self, lab, public):
        """To profile one's own program, steps included."""
        target = lab.process(
            [*as_user(NOBODY), public / "dbsp-target", "sleeper", "--workers", "1"]
            + ["--steps", "200", "--hold", "--builtin", public / "builtin.json"]
        )
        target.expect("stdout", r"^ready (\d+)$", 60)
        profiler = lab.profiler(
            "--pid", target.pid, "-o", public / "ours.json",
            program=public / "dbprof-bpf", prefix=as_user(NOBODY, ENOUGH),
        )  # fmt: skip
        profiler.wait_attached()
        target.say("\n")
        target.expect("stdout", r"^done$", 60)
        assert profiler.stop() == COMPLETE, profiler.describe()
        ours = json.loads((public / "ours.json").read_text())
        assert reading(ours, 0, "n", "steps_count") == 200

    @pytest.mark.parametrize("user", [SOMEBODY, 0])
    def test_another_users_program(self, lab, public, user):
        """Files in /proc belong to that user: it works all the same, or says what is missing."""
        target = lab.process([*as_user(NOBODY), public / "dbsp-target", "idle", "--hold"])
        target.expect("stdout", r"^ready (\d+)$", 60)
        only = ",".join(f"+{name}" for name in ENOUGH)
        prefix = as_user(user, ENOUGH) if user else ["setpriv", f"--bounding-set=-all,{only}"]
        process = lab.run(
            "--pid", target.pid, *SHORT, "-o", public / "ours.json",
            program=public / "dbprof-bpf", prefix=prefix,
        )  # fmt: skip
        if process.popen.returncode == COMPLETE:
            assert len(json.loads((public / "ours.json").read_text())["worker_profiles"]) == 2
        else:
            assert process.popen.returncode == FAILED
            assert "CAP_" in process.stderr, process.describe()
            assert not (public / "ours.json").exists()

    def test_perf_uprobes_need_more(self, refused, idle):
        """The older kind of probe is for CAP_SYS_ADMIN only."""
        refused(
            "--pid", idle.pid, *SHORT, "--uprobes", "perf",
            prefix=without("sys_admin"), says=["CAP_SYS_ADMIN"],
        )  # fmt: skip


class TestKernel:
    def test_no_btf(self, refused, idle):
        hide = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"']
        refused("--pid", idle.pid, *SHORT, prefix=[*hide, "sh"], says=["BTF"])

    def test_tracefs_is_not_needed(self, lab, idle):
        """Nor debugfs: the program works where neither is mounted."""
        hide = (
            "for folder in /sys/kernel/tracing /sys/kernel/debug; do"
            " mount -t tmpfs none $folder || exit 9; done; exec \"$@\""
        )
        for uprobes in ("multi", "perf"):
            process = lab.run(
                "--pid", idle.pid, *SHORT, "-o", lab.path("ours.json"), "--uprobes", uprobes,
                prefix=["unshare", "--mount", "sh", "-c", hide, "sh"],
            )  # fmt: skip
            assert process.popen.returncode == COMPLETE, process.describe()

    def test_perf_uprobes(self, windows):
        """The kind for kernels before 6.6 counts the same."""
        window = windows["perf join --mode waits"]
        assert "perf uprobes" in window.profiler.stderr
        check_counts(window)

    def test_no_uprobe_multi(self, lab, old_kernel):
        """Falls back, and says so with -v."""
        window = lab.both(
            "join", workers=2, steps=100, environment=old_kernel, profiler=["--mode", "waits"]
        )
        assert window.status == COMPLETE
        assert "no uprobe_multi" in window.profiler.stderr
        check_counts(window)

    def test_no_uprobe_multi_is_silent(self, lab, old_kernel, idle):
        """Without -v a fall-back is nothing to worry about."""
        process = lab.run(
            "--pid", idle.pid, *SHORT, "-o", lab.path("ours.json"), env=old_kernel
        )
        assert process.popen.returncode == COMPLETE and process.stderr == ""

    def test_no_uprobe_multi_but_asked_for(self, refused, old_kernel, idle):
        refused(
            "--pid", idle.pid, *SHORT, "--uprobes", "multi",
            env=old_kernel, says=["uprobe_multi", "6.6"],
        )  # fmt: skip


def check_counts(window):
    for worker in workers(window.builtin):
        for metric in ("steps_count", "invocations_count"):
            for node in window.builtin["worker_profiles"][worker]["metadata"]:
                assert reading(window.ours, worker, node, metric) == reading(
                    window.builtin, worker, node, metric
                ), f"worker {worker} {node} {metric}"


OLD_KERNEL = r"""
/* Answers as a kernel before 6.6 when a link of type BPF_TRACE_UPROBE_MULTI is to be made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <sys/syscall.h>

#define UPROBE_MULTI 48

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_bpf && a[0] == BPF_LINK_CREATE &&
	    ((const unsigned int *)a[1])[2] == UPROBE_MULTI) {
		errno = EINVAL;
		return -1;
	}
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


@pytest.fixture(scope="session")
def old_kernel(tmp_path_factory):
    """The environment in which the kernel seems not to know uprobe_multi."""
    folder = tmp_path_factory.mktemp("old-kernel")
    (folder / "old_kernel.c").write_text(OLD_KERNEL)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", "old_kernel.so", "old_kernel.c", "-ldl"],
        cwd=folder,
        check=True,
    )
    return {"PATH": "/usr/bin:/bin", "LD_PRELOAD": str(folder / "old_kernel.so")}

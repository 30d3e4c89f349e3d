# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What becomes of a program while it is profiled: each ends with a right profile, and closed books."""

import contextlib
import ctypes
import json
import os
import signal
import struct
import subprocess
import time
from datetime import datetime
from pathlib import Path

import pytest
from harness import COMPLETE, INCOMPLETE, eventually, target_path
from kernel import bpf_objects, changed_code, uprobe_events
from profiles import (
    MILLISECOND,
    SECOND,
    all_threads,
    books,
    breakdown,
    nanos,
    reading,
    split,
    window_nanos,
    workers,
)
from test_attach import check_books, check_same_counts
from test_books import check_thread
from test_detach import private_target
from tracing import execute, exit_main_thread, fork

# How often a profiler is attached and detached under load: `make check-all` makes it a thousand.
ATTACHES = int(os.environ.get("DBPROF_ATTACHES", 30))


def load(path):
    return json.loads(path.read_text())


def check_all_threads(ours):
    for thread in all_threads(ours):
        check_thread(thread, "life cycle")


def window_of(lab, target, length, *arguments, name="ours.json", status=COMPLETE):
    process = lab.run(
        "-q", "--pid", target.pid, "-d", length, "-o", lab.path(name), *arguments, timeout=300
    )
    assert process.popen.returncode == status, process.describe()
    ours = load(lab.path(name))
    check_all_threads(ours)
    return ours


def names(ours):
    return {thread["name"] for thread in ours["threads"] if "exited" not in thread}


class TestThreads:
    @pytest.mark.parametrize("mode", ["engine", "waits"])
    def test_come_and_go(self, lab, mode):
        """One in each step: more of them than there are places, and no time of theirs is lost."""
        target = lab.target("sleeper", workers=1, steps=400, builtin=lab.path("b.json"))
        ours, _ = lab.profile_steps(target, "--max-threads", "24", "--mode", mode)
        target.finish()
        check_same_counts(ours, target.builtin_profile())
        check_all_threads(ours)
        [exited] = [thread for thread in ours["threads"] if "exited" in thread]
        assert exited["exited"] == 400
        # Each of them has slept for a millisecond.
        assert split(exited["blocked"])["sleep"] >= 400 * MILLISECOND

    @pytest.mark.parametrize("mode", ["sampled", "exact", "waits"])
    def test_main_thread_exits_before(self, lab, mode):
        """The process lives on in its other threads; its own folder of /proc has no memory then."""
        target = lab.target("spin", workers=1, steps=5)
        target.go()
        time.sleep(0.3)
        exit_main_thread(target.pid)
        status = Path(f"/proc/{target.pid}/status")
        eventually(lambda: "zombie" in status.read_text(), 10, "the main thread has exited")
        ours = window_of(lab, target, "400ms", "--mode", mode)
        check_books(ours)
        assert not ours["dbprof"]["target_exited"]
        assert reading(ours, 0, "n", "circuit_open_step_seconds") >= window_nanos(ours)
        others = set(os.listdir(f"/proc/{target.pid}/task")) - {str(target.pid)}
        assert changed_code(f"{target.pid}/task/{others.pop()}") == []

    def test_main_thread_exits_meanwhile(self, lab):
        target = lab.target("spin", workers=1, steps=5)
        profiler = lab.profiler("--pid", target.pid, "-o", lab.path("ours.json"))
        profiler.wait_attached()
        target.go()
        time.sleep(0.3)
        exit_main_thread(target.pid)
        time.sleep(0.5)
        assert profiler.alive(), profiler.describe()
        assert profiler.stop() == COMPLETE, profiler.describe()
        ours = load(lab.path("ours.json"))
        check_books(ours)
        check_all_threads(ours)
        assert reading(ours, 0, "n", "steps_count") == 2
        assert not ours["dbprof"]["target_exited"]


class TestExec:
    @pytest.mark.parametrize("mode", ["auto", "sampled", "waits"])
    def test_in_place(self, lab, mode):
        """The process runs another program: the profile ends there, and has nothing of that one."""
        target = lab.target("stuck", workers=2, steps=5)
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", mode)
        profiler.wait_attached()
        target.go()
        time.sleep(0.5)
        execute(target.pid, "/bin/sh", "-c", "while :; do :; done")
        assert profiler.wait(20) == COMPLETE, profiler.describe()
        ours = load(output)
        check_all_threads(ours)
        assert ours["dbprof"]["target_exited"]
        assert not names(ours) & {"sh", "dash"}
        for worker in workers(ours):
            assert reading(ours, worker, "n", "steps_count") == 2
            assert breakdown(ours, worker, "n")["operator_pending"] >= 0.3 * SECOND
        ran = {t["name"]: books(t)[0]["on_cpu"] for t in ours["threads"] if "exited" not in t}
        assert sum(ran.values()) < 0.2 * SECOND, ran

    def test_before(self, lab, refused):
        """What ran there before does not matter."""
        target = lab.target("idle", workers=1)
        execute(target.pid, "/bin/sleep", "60")
        comm = Path(f"/proc/{target.pid}/comm")
        eventually(lambda: comm.read_text() == "sleep\n", 10, "it runs sleep")
        refused("--pid", target.pid, "-d", "100ms", says=["sleep", "DBSP"])

    def test_into_a_pipeline(self, lab):
        """A shell that becomes the program keeps its id."""
        prefix = ["sh", "-c", 'exec "$@"', "sh"]
        target = lab.target("sleeper", workers=1, steps=100, prefix=prefix)
        ours, _ = lab.profile_steps(target)
        assert reading(ours, 0, "n", "steps_count") == 100


SYS_CLONE3 = 435


class Clone(ctypes.Structure):
    """struct clone_args, linux/sched.h."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "flags pidfd child_tid parent_tid exit_signal stack stack_size tls set_tid "
            "set_tid_size cgroup"
        ).split()
    ]


def start_as(pid, act):
    """A child with an id that is free, which does what `act` does."""
    wanted = (ctypes.c_int32 * 1)(pid)
    arguments = Clone(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
    libc = ctypes.CDLL(None, use_errno=True)
    got = libc.syscall(SYS_CLONE3, ctypes.byref(arguments), ctypes.sizeof(arguments))
    if got == 0:
        try:
            act()
        finally:
            os._exit(127)
    assert got == pid, os.strerror(ctypes.get_errno())


def run_pipeline(log):
    os.dup2(log, 1)
    command = [str(target_path()), "spin", "--workers", "3", "--hold"]
    os.execv(command[0], command)


def compute(log):
    """No other program: what was forked goes on."""
    os.write(log, b"ready\n")
    while True:
        pass


@contextlib.contextmanager
def successor(path, pid, act):
    log = os.open(path, os.O_RDWR | os.O_CREAT)
    start_as(pid, lambda: act(log))
    try:
        eventually(lambda: b"ready" in path.read_bytes(), 20, "the successor is ready")
        yield {int(tid) for tid in os.listdir(f"/proc/{pid}/task")}
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(log)


class TestPidReuse:
    @pytest.mark.parametrize("mode", ["sampled", "waits"])
    @pytest.mark.parametrize("act", [run_pipeline, compute])
    def test_while_profiled(self, lab, act, mode):
        """Another process gets the id at once: nothing of it is in the profile."""
        target = lab.target("sleeper", workers=1, steps=100)
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", mode)
        profiler.wait_attached()
        target.go()
        target.wait_done()
        # It may not look until the id is another's.
        profiler.popen.send_signal(signal.SIGSTOP)
        target.kill()
        with successor(lab.path("log"), target.pid, act) as others:
            time.sleep(0.2)
            profiler.popen.send_signal(signal.SIGCONT)
            assert profiler.wait(20) == COMPLETE, profiler.describe()
        ours = load(output)
        check_all_threads(ours)
        assert ours["dbprof"]["target_exited"]
        assert [w["worker"] for w in ours["dbprof"]["workers"]] == [0]
        assert reading(ours, 0, "n", "steps_count") == 100
        assert others and not others & {thread.get("tid") for thread in ours["threads"]}


class TestStopped:
    @pytest.fixture(params=["signal", "freezer"])
    def halt(self, request, tmp_path):
        """Stops a process, and lets it go on; the freezer is what containers are paused by."""
        if request.param == "signal":
            yield lambda pid, on: os.kill(pid, signal.SIGSTOP if on else signal.SIGCONT)
            return
        with freezer() as freeze:
            yield freeze

    @pytest.mark.parametrize("mode", ["sampled", "waits"])
    def test_all_the_time(self, lab, halt, mode):
        target = lab.target("join", workers=2, steps=10**6)
        target.go()
        time.sleep(0.3)
        halt(target.pid, True)
        try:
            ours = window_of(lab, target, "300ms", "--mode", mode)
        finally:
            halt(target.pid, False)
        assert reading(ours, 0, "n", "steps_count") in (0, None)
        for thread in all_threads(ours):
            assert books(thread)[0]["on_cpu"] <= MILLISECOND
        # It goes on as if nothing had been.
        assert reading(window_of(lab, target, "300ms", name="2.json"), 0, "n", "steps_count") > 0

    def test_in_between(self, lab, halt):
        """Counts stay those of the engine, and the time that it stood is in the books."""
        target = lab.target("sleeper", workers=1, steps=500, builtin=lab.path("b.json"))
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", "waits")
        profiler.wait_attached()
        target.go()
        time.sleep(0.1)
        halt(target.pid, True)
        time.sleep(0.5)
        halt(target.pid, False)
        target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        target.finish()
        ours = load(output)
        check_same_counts(ours, target.builtin_profile())
        check_books(ours)
        check_all_threads(ours)
        [worker] = ours["dbprof"]["workers"]
        assert nanos(worker["observed"]) == window_nanos(ours)
        assert sum(split(worker["blocked"]).values()) > 0.5 * SECOND


@contextlib.contextmanager
def freezer():
    """A control group whose processes can be frozen, of either version."""
    old, new = Path("/sys/fs/cgroup/freezer"), Path("/sys/fs/cgroup")
    top = old if old.exists() else new
    group = top / f"dbprof-test-{os.getpid()}"
    group.mkdir()
    file, words = (
        ("freezer.state", ("THAWED", "FROZEN")) if top == old else ("cgroup.freeze", ("0", "1"))
    )

    def freeze(pid, on):
        (group / "cgroup.procs").write_text(str(pid))
        (group / file).write_text(words[on])

    try:
        yield freeze
    finally:
        (group / file).write_text(words[0])
        for pid in (group / "cgroup.procs").read_text().split():
            (top / "cgroup.procs").write_text(pid)
        group.rmdir()


class TestFork:
    def test_child_is_nobody(self, lab):
        """It has the parent's code, probes included, and none of its time."""
        target = private_target(lab, "sleeper", workers=1, steps=200, builtin=lab.path("b.json"))
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", "waits")
        profiler.wait_attached()
        child = fork(target.pid)
        try:
            os.kill(child, signal.SIGCONT)
            target.go()
            target.wait_done()
            assert profiler.stop() == COMPLETE, profiler.describe()
            target.finish()
            ours = load(output)
            assert child not in {thread.get("tid") for thread in ours["threads"]}
        finally:
            os.kill(child, signal.SIGKILL)
        check_same_counts(ours, target.builtin_profile())
        check_books(ours)
        check_all_threads(ours)

    def test_child_lives_on(self, lab):
        """The parent's end is the end of the profile, though the child holds the same file."""
        target = lab.target("idle", workers=1)
        profiler = lab.profiler("--pid", target.pid, "-o", lab.path("ours.json"))
        profiler.wait_attached()
        child = fork(target.pid)
        try:
            # Not target.kill(): the child holds its pipes, too.
            target.popen.kill()
            assert profiler.wait(20) == COMPLETE, profiler.describe()
        finally:
            os.kill(child, signal.SIGKILL)
        assert load(lab.path("ours.json"))["dbprof"]["target_exited"]


@contextlib.contextmanager
def memory_limit(pid):
    """Limits a process's memory to what it has now; returns how many were killed for want of it."""
    old, new = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    top = old if old.exists() else new
    limit, events = (
        ("memory.limit_in_bytes", "memory.oom_control")
        if top == old
        else ("memory.max", "memory.events")
    )
    group = top / f"dbprof-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / limit).write_text(str(4 << 20))
        yield lambda: dict(
            line.split() for line in (group / events).read_text().splitlines()
        )["oom_kill"]
    finally:
        eventually(lambda: not (group / "cgroup.procs").read_text(), 20, "the group is empty")
        group.rmdir()


class TestKilled:
    @pytest.mark.parametrize("mode", ["engine", "sampled", "waits"])
    def test_out_of_memory(self, lab, mode):
        """Killed by the kernel in the middle of steps: what was seen until then is a profile."""
        builtin = lab.path("b.json") if mode == "engine" else None
        target = lab.target("join", workers=2, steps=10**6, records=2000, builtin=builtin)
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", mode)
        profiler.wait_attached()
        target.go()
        time.sleep(0.7)
        with memory_limit(target.pid) as killed:
            status = profiler.wait(60)
            assert int(killed()) >= 1
            assert target.wait(20) == -signal.SIGKILL
        ours = load(output)
        about = ours["dbprof"]
        assert about["target_exited"]
        assert status == (COMPLETE if about["complete"] else INCOMPLETE), profiler.describe()
        assert about["complete"] == (not any(about["lost"].values()))
        check_all_threads(ours)
        for worker in workers(ours):
            assert reading(ours, worker, "n", "steps_count") > 0


class TestManyTimes:
    @pytest.mark.seconds(30 + 3 * ATTACHES)
    def test_attach_and_detach(self, lab):
        """Under load, again and again: the target's work is right, and nothing piles up anywhere."""
        builtin = lab.path("b.json")
        target = private_target(
            lab, "join", workers=2, steps=10**6, records=50, builtin=builtin
        )
        target.go()
        objects, events = bpf_objects(), uprobe_events()
        modes = ["sampled", "waits", "exact", "engine"]
        steps, before = 0, 0
        for number in range(ATTACHES):
            ours = window_of(lab, target, "20ms", "--mode", modes[number % len(modes)])
            check_books(ours)
            steps += reading(ours, 0, "n", "steps_count")
            start = ours["dbprof"]["window"]["start_monotonic_nanos"]
            assert start >= before
            before = start + window_nanos(ours)
        assert steps > ATTACHES / 2
        assert target.alive() and changed_code(target.pid) == []
        eventually(lambda: bpf_objects() <= objects, 20, "programs and maps are gone")
        assert uprobe_events() == events

    def test_two_profilers_of_different_modes(self, lab):
        """One is killed in the middle: the other one's numbers are whole."""
        target = lab.target("join", workers=2, steps=300, builtin=lab.path("b.json"))
        one, two = (
            lab.profiler("--pid", target.pid, "-o", lab.path(f"{mode}.json"), "--mode", mode)
            for mode in ("waits", "exact")
        )
        for profiler in (one, two):
            profiler.wait_attached()
        target.go()
        time.sleep(0.1)
        two.popen.kill()
        target.wait_done()
        assert one.stop() == COMPLETE, one.describe()
        target.finish()
        ours = load(lab.path("waits.json"))
        check_same_counts(ours, target.builtin_profile())
        check_all_threads(ours)
        assert not lab.path("exact.json").exists()


class TestClocks:
    def test_clock_is_set(self, lab):
        """Whoever sets the machine's clock moves no edge, and the window's date is that of its begin."""
        target = lab.target("sleeper", workers=1, steps=300, builtin=lab.path("b.json"))
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", "waits")
        profiler.wait_attached()
        began = time.time()
        target.go()
        with clock_set(2.0):
            target.wait_done()
            status = profiler.stop()
        assert status == COMPLETE, profiler.describe()
        target.finish()
        ours = load(output)
        check_same_counts(ours, target.builtin_profile())
        check_books(ours)
        check_all_threads(ours)
        start = datetime.fromisoformat(ours["dbprof"]["window"]["start"]).timestamp()
        assert began - 1 < start <= began


@contextlib.contextmanager
def clock_set(seconds):
    """The machine's clock is ahead for a moment, as after it was suspended."""
    offset = time.clock_gettime(time.CLOCK_REALTIME) - time.monotonic()
    time.clock_settime(time.CLOCK_REALTIME, time.monotonic() + offset + seconds)
    try:
        yield
    finally:
        time.clock_settime(time.CLOCK_REALTIME, time.monotonic() + offset)


class TestSmallTables:
    """What does not fit is counted and shown, the exit status is 3, and what is shown is right."""

    SIZES = {
        "threads": ("join", "--max-threads", 2, "did not fit into the table of threads"),
        "circuits": ("nested", "--max-circuits", 1, "did not fit into the table of circuits"),
        "operators": ("join", "--max-operators", 8, "did not fit into the table of operators"),
    }

    @pytest.mark.parametrize("what", SIZES)
    def test_too_small(self, lab, what):
        scenario, option, size, words = self.SIZES[what]
        target = lab.target(
            scenario, workers=2, steps=60, records=20, builtin=lab.path("b.json")
        )
        mode = "exact" if what == "operators" else "waits"
        ours, profiler = lab.profile_steps(
            target, "--mode", mode, option, size, status=INCOMPLETE
        )
        target.finish()
        about, builtin = ours["dbprof"], target.builtin_profile()
        assert not about["complete"] and about["lost"][what] > 0
        assert not [name for name, count in about["lost"].items() if count and name != what]
        assert "not complete" in profiler.stdout and words in " ".join(profiler.stdout.split())
        check_all_threads(ours)
        self.check_shown(ours, builtin, what)

    @staticmethod
    def check_shown(ours, builtin, what):
        """Each count that is there is the engine's."""
        shown = 0
        for worker in workers(ours):
            for node in builtin["worker_profiles"][worker]["metadata"]:
                for metric in ("steps_count", "invocations_count"):
                    value = reading(ours, worker, node, metric)
                    if value:
                        assert value == reading(builtin, worker, node, metric), (node, metric)
                        shown += 1
        assert shown > (2 if what == "circuits" else 10)

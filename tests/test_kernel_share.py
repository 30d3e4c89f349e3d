# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the kernel did to threads: who took their CPU, what they were blocked in, who woke them."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from harness import COMPLETE
from profiles import (
    MILLISECOND,
    SECOND,
    all_threads,
    books,
    breakdown,
    by_label,
    circuits,
    nanos,
    operators,
    reading,
    split,
    window_nanos,
    workers,
)
from slow_disk import NotToBeHad, SlowDisk

CPU = 0


def worker_threads(pid):
    """Thread ids of the workers, by index."""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        name = Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
        if name.startswith("dbsp-worker-"):
            found[int(name.rpartition("-")[2])] = int(tid)
    return [found[index] for index in sorted(found)]


def run_delay(pid, tid):
    """Nanoseconds in which a thread was runnable and did not run, by the scheduler itself."""
    fields = Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()
    return int(fields[1])


@pytest.fixture
def hog(lab):
    """Another process, which leaves nothing of a CPU."""
    process = lab.process([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(process.pid, {CPU})
    return process


def end_window(profiler, hog):
    """
    The hog ends after the window: while it runs, the kernel may take a minute to take probes out
    (synchronize_srcu() in bpf_uprobe_multi_link_release(), kernel/trace/bpf_trace.c).
    """
    profiler.popen.send_signal(signal.SIGINT)
    time.sleep(0.3)
    hog.kill()
    return profiler.wait(60)


def pinned_window(lab, hog, scenario, mode, seconds=5, **options):
    """The window, and the scheduler's own run delay of each worker in it."""
    builtin = lab.path("b.json") if mode == "engine" else None
    target = lab.target(scenario, builtin=builtin, **options)
    tids = worker_threads(target.pid)
    for tid in tids:
        os.sched_setaffinity(tid, {CPU})
    target.go()
    time.sleep(0.5)
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", mode)
    profiler.wait_attached()
    before = [run_delay(target.pid, tid) for tid in tids]
    time.sleep(seconds)
    after = [run_delay(target.pid, tid) for tid in tids]
    assert end_window(profiler, hog) == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    assert [worker["tid"] for worker in ours["dbprof"]["workers"]] == tids
    return ours, [late - early for early, late in zip(before, after)]


@pytest.mark.parametrize("mode", ["engine", "sampled", "waits"])
@pytest.mark.parametrize(
    "scenario, options",
    [("spin", dict(workers=1)), ("join", dict(workers=2, steps=10**6, seconds=8))],
)
class TestHog:
    """A process on the workers' CPU: their delay is what the scheduler says, and by whom."""

    def test_delay(self, lab, hog, scenario, options, mode):
        ours, delays = pinned_window(lab, hog, scenario, mode, **options)
        for worker, delay in zip(ours["dbprof"]["workers"], delays):
            parts, _ = books(worker)
            waited = parts["run_queue"] + parts["preempted"]
            assert delay > SECOND
            assert abs(waited - delay) <= 0.05 * delay, (waited, delay)
            taken = split(worker["preempted_by"])
            # Workers of join sleep and wake, and share the CPU with one another, too.
            if scenario == "spin":
                assert abs(taken["other_process"] - delay) <= 0.05 * delay, (taken, delay)
            assert taken["kernel"] <= 0.05 * delay, (taken, delay)


@pytest.mark.parametrize("mode", ["engine", "sampled"])
def test_hog_is_seen_in_circuit_and_operator(lab, hog, mode):
    """The spinning operator was preempted, by another process, in its step."""
    ours, [delay] = pinned_window(lab, hog, "spin", mode, seconds=3, workers=1)
    by = by_label(ours, 0, "n", "preempted_by_seconds", "by")
    assert abs(sum(by.values()) - delay) <= 0.1 * delay and by["other_process"] > 0.9 * delay
    assert abs(reading(ours, 0, "n", "preempted_seconds") - sum(by.values())) == 0
    if mode == "sampled":
        preempted = {node: reading(ours, 0, node, "preempted_seconds") for node in operators(ours, 0)}
        assert abs(max(preempted.values()) - delay) <= 0.1 * delay


def test_hog_stands_out_in_the_summary(lab, hog):
    """In words."""
    target = lab.target("spin", workers=1)
    [tid] = worker_threads(target.pid)
    os.sched_setaffinity(tid, {CPU})
    target.go()
    time.sleep(0.3)
    profiler = lab.profiler("--pid", target.pid, "-o", lab.path("ours.json"))
    profiler.wait_attached()
    time.sleep(2)
    assert end_window(profiler, hog) == COMPLETE, profiler.describe()
    [line] = [line for line in profiler.lines["stdout"] if "off CPU" in line and "%" in line]
    assert "runnable" in line and "other process" in profiler.stdout


def test_threads_of_one_program_share_a_cpu(lab):
    """The workers are preempted by each other and by mergers then."""
    target = lab.target("join", workers=2, steps=10**6)
    for tid in os.listdir(f"/proc/{target.pid}/task"):
        os.sched_setaffinity(int(tid), {CPU})
    target.go()
    time.sleep(0.5)
    output = lab.path("ours.json")
    process = lab.run("--pid", target.pid, "-d", "3s", "-o", output)
    assert process.popen.returncode == COMPLETE, process.describe()
    ours = json.loads(output.read_text())
    for worker in workers(ours):
        by = by_label(ours, worker, "n", "preempted_by_seconds", "by")
        assert by["other_worker"] > 10 * MILLISECOND and by["merger"] > 10 * MILLISECOND, by
    roles = {thread.get("role") for thread in ours["threads"]}
    assert {"merger", "other"} <= roles
    mergers = [thread for thread in ours["threads"] if thread.get("role") == "merger"]
    assert len(mergers) == 2
    for thread in mergers:
        assert thread["name"].startswith("merger-") and nanos(thread["on_cpu"]) > 0
        assert split(thread["preempted_by"]).get("other_worker", 0) > 0


@pytest.mark.parametrize("mode", ["engine", "sampled", "waits"])
def test_futex_storm(lab, mode):
    """Workers that wait for each other all the time: a thousand futex calls a second."""
    builtin = lab.path("b.json") if mode == "engine" else None
    target = lab.target("sharded", workers=4, steps=10**6, records=5, builtin=builtin)
    target.go()
    time.sleep(0.3)
    output = lab.path("ours.json")
    process = lab.run("--pid", target.pid, "-d", "2s", "-o", output, "--mode", mode)
    assert process.popen.returncode == COMPLETE, process.describe()
    ours = json.loads(output.read_text())
    for worker in ours["dbprof"]["workers"]:
        blocked = split(worker["blocked"])
        assert blocked["futex"] > 0.9 * sum(blocked.values()) > window_nanos(ours) / 10
        assert split(worker["woken_by"])["other_worker"] > blocked["futex"] / 3
    for worker in workers(ours):
        causes = by_label(ours, worker, "n", "blocked_seconds", "cause")
        assert causes["futex"] > 0.9 * sum(causes.values()) > 0
        woken = by_label(ours, worker, "n", "woken_by_seconds", "by")
        assert sum(woken.values()) <= sum(causes.values())


def test_sleep(lab):
    """A thread for each step, which sleeps for a millisecond and exits."""
    target = lab.target("sleeper", workers=1, steps=2000)
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output)
    profiler.wait_attached()
    target.go()
    target.wait_done()
    assert profiler.stop() == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    [exited] = [thread for thread in ours["threads"] if "exited" in thread]
    assert exited["exited"] == 2000
    slept = split(exited["blocked"])["sleep"]
    assert 2 * SECOND <= slept < 4 * SECOND
    assert slept > 0.9 * sum(split(exited["blocked"]).values())
    assert split(exited["woken_by"])["kernel"] >= 0.9 * slept
    # The worker meanwhile waits for it.
    [worker] = ours["dbprof"]["workers"]
    assert split(worker["woken_by"])["io_thread"] > 1.5 * SECOND


def test_waits_are_blocked_time(windows):
    """What DBSP calls a wait of a step is futex time to the kernel, but for the last wake-up."""
    ours = windows["long sleeper --mode waits"].ours
    for worker in workers(ours):
        for circuit in circuits(ours, worker):
            futex = by_label(ours, worker, circuit, "blocked_seconds", "cause")["futex"]
            waited = reading(ours, worker, circuit, "circuit_wait_time_seconds")
            queued = reading(ours, worker, circuit, "run_queue_seconds")
            assert 0.8 * waited <= futex + queued <= 1.05 * waited, (futex, queued, waited)


class TestDisk:
    """
    A spine whose mergers write: on a disk of 200 writes a second they wait for it, on an ordinary
    one they hardly do.
    """

    def profile(self, lab, storage, disk=None):
        lab.environment = {**lab.environment, "TMPDIR": str(storage)}
        target = lab.target("spine", workers=1, steps=10**6)
        if disk:
            disk.slow_down(target.pid)
        target.go()
        time.sleep(0.5)
        output = lab.path("ours.json")
        process = lab.run("--pid", target.pid, "-d", "3s", "-o", output)
        assert process.popen.returncode == COMPLETE, process.describe()
        target.kill()
        ours = json.loads(output.read_text())
        [merger] = [thread for thread in ours["threads"] if thread.get("role") == "merger"]
        return split(merger["blocked"]).get("block_io", 0) / window_nanos(ours), ours

    def test_slow_disk(self, lab):
        usual, _ = self.profile(lab, lab.storage)
        try:
            disk = SlowDisk(lab.folder)
        except NotToBeHad as lack:
            pytest.skip(f"a slow disk cannot be had: {lack}")
        try:
            slow, ours = self.profile(lab, disk.folder, disk)
        except NotToBeHad as lack:
            pytest.skip(f"a slow disk cannot be had: {lack}")
        finally:
            disk.close()
        assert slow > 0.5 and slow > 5 * usual, (slow, usual)
        assert breakdown(ours, 0, "n")["merge_backpressure"] > 0.5 * window_nanos(ours)


def test_every_cause_and_party_is_listed(windows):
    """Also those that did not occur: a reader need not know the list."""
    ours = windows["join"].ours
    causes = {"futex", "epoll", "block_io", "page_fault", "socket", "pipe", "sleep", "other"}
    parties = {"other_worker", "merger", "io_thread", "other_process", "kernel"}
    for worker in workers(ours):
        assert set(by_label(ours, worker, "n", "blocked_seconds", "cause")) == causes
        for metric in ("preempted_by_seconds", "woken_by_seconds"):
            assert set(by_label(ours, worker, "n", metric, "by")) == parties
    for thread in all_threads(ours):
        assert set(thread["blocked"]) <= causes and set(thread["woken_by"]) <= parties

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Closed books as a property: 40 random windows, each over five processes at once, while their threads
start, exit, sleep, are stopped and move between CPUs.
"""

import json
import os
import random
import signal
import threading

import pytest
from harness import COMPLETE, INCOMPLETE, Lab
from profiles import (
    MILLISECOND,
    PARTS,
    all_threads,
    books,
    by_label,
    circuits,
    metadata,
    nanos,
    operators,
    reading,
    split,
    value_of,
    window_nanos,
    workers,
)

WINDOWS = 40
SEED = 20261130
SCENARIOS = {
    "join": dict(workers=2, steps=10**6),
    "spine": dict(workers=1, steps=10**6),
    # A thread starts and exits in each step.
    "sleeper": dict(workers=2, steps=10**6),
    "nested": dict(workers=2, steps=10**6, records=20),
    "spin": dict(workers=1, steps=10),
}
MODES = ["auto", "sampled", "exact", "waits"]


class Disturber:
    """Stops, continues and moves the targets and their threads until it is told to end."""

    def __init__(self, targets, seed):
        self.targets, self.random = targets, random.Random(seed)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.done = {"stopped": 0, "moved": 0}

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def _run(self):
        while not self.over.wait(self.random.uniform(0.001, 0.03)):
            target = self.random.choice(self.targets)
            if self.random.random() < 0.3:
                self._stop(target)
            else:
                self._move(target)

    def _stop(self, target):
        target.popen.send_signal(signal.SIGSTOP)
        self.over.wait(self.random.uniform(0, 0.05))
        target.popen.send_signal(signal.SIGCONT)
        self.done["stopped"] += 1

    def _move(self, target):
        """One thread to one CPU, or to all of them."""
        cpus = sorted(os.sched_getaffinity(0))
        tid = int(self.random.choice(os.listdir(f"/proc/{target.pid}/task")))
        try:
            os.sched_setaffinity(tid, self.random.choice([cpus, cpus[:1], cpus[-1:]]))
        except ProcessLookupError:
            return  # it has exited meanwhile
        self.done["moved"] += 1


class Observed:
    """One process in one window."""

    def __init__(self, scenario, mode, ours):
        self.scenario, self.mode, self.ours = scenario, mode, ours

    def __str__(self):
        return f"{self.scenario} in mode {self.mode}"


class Taken:
    """All windows, and what was done to the targets meanwhile."""

    def __init__(self, lab):
        self.lab, self.random = lab, random.Random(SEED)
        self.targets = {}
        self.observed = []
        self.statuses = []

    def take(self):
        for number, (scenario, options) in enumerate(SCENARIOS.items()):
            # Two of them are profiled by the engine itself, too.
            builtin = self.lab.path(f"{scenario}.json") if number % 2 else None
            self.targets[scenario] = self.lab.target(scenario, builtin=builtin, **options)
        for target in self.targets.values():
            target.go()
        disturber = Disturber(list(self.targets.values()), SEED)
        with disturber:
            for number in range(WINDOWS):
                self._window(number)
        self.done = disturber.done
        assert all(target.alive() for target in self.targets.values())
        return self

    def _window(self, number):
        mode = MODES[number % len(MODES)]
        length = f"{self.random.randrange(50, 300)}ms"
        pids = [word for t in self.targets.values() for word in ("--pid", t.pid)]
        output = self.lab.path(f"w{number}.json")
        process = self.lab.run("-q", *pids, "-d", length, "--mode", mode, "-o", output)
        assert process.popen.returncode in (COMPLETE, INCOMPLETE), process.describe()
        self.statuses.append(process.popen.returncode)
        for scenario, target in self.targets.items():
            path = self.lab.path(f"w{number}-{target.pid}.json")
            self.observed.append(Observed(scenario, mode, json.loads(path.read_text())))


@pytest.fixture(scope="module")
def taken(_built, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("books"))
    yield Taken(lab).take()
    lab.close()


def all_numbers(value):
    """Every number of a profile."""
    if isinstance(value, dict):
        for part in value.values():
            yield from all_numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from all_numbers(part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def check_thread(thread, where):
    parts, observed = books(thread)
    assert sum(parts.values()) == observed, f"{where}: {thread}"
    assert sum(split(thread["preempted_by"]).values()) == parts["preempted"], f"{where}: {thread}"
    assert sum(split(thread["woken_by"]).values()) <= parts["blocked"], f"{where}: {thread}"


def check_share(ours, worker, node, prefix, wall, cpu):
    """Run queue, preempted, blocked and unobserved time of a node are what is not CPU time."""
    parts = [
        reading(ours, worker, node, f"{prefix}{part}_seconds") or 0
        for part in PARTS
        if part not in ("on_cpu", "blocked")
    ]
    blocked = by_label(ours, worker, node, f"{prefix}blocked_seconds", "cause")
    assert cpu + sum(parts) + sum(blocked.values()) == wall, (node, cpu, parts, blocked, wall)


@pytest.mark.seconds(300)
class TestProperty:
    def test_enough_happened(self, taken):
        """The windows below were hard ones."""
        assert len(taken.observed) == WINDOWS * len(SCENARIOS) == 200
        assert taken.done["stopped"] >= 50 and taken.done["moved"] >= 100, taken.done
        assert {o.ours["dbprof"]["mode"] for o in taken.observed} == {
            "engine",
            "sampled",
            "exact",
            "waits",
        }
        exited = [o for o in taken.observed if any("exited" in t for t in o.ours["threads"])]
        assert len(exited) >= WINDOWS / 2

    def test_complete(self, taken):
        lost = [(str(o), o.ours["dbprof"]["lost"]) for o in taken.observed]
        lost = [(where, {k: v for k, v in counts.items() if v}) for where, counts in lost]
        assert not [entry for entry in lost if entry[1]]
        assert set(taken.statuses) == {COMPLETE}

    def test_threads(self, taken):
        """Every nanosecond of every thread: on a CPU, runnable, blocked, or said to be unseen."""
        count = 0
        for observed in taken.observed:
            for thread in all_threads(observed.ours):
                check_thread(thread, observed)
                count += 1
        assert count > 1000

    def test_threads_fill_the_window(self, taken):
        """One that lived all the time was observed all the time."""
        for observed in taken.observed:
            window = window_nanos(observed.ours)
            assert 50 * MILLISECOND <= window
            for worker in observed.ours["dbprof"]["workers"]:
                assert nanos(worker["observed"]) == window, observed
            for thread in observed.ours["threads"]:
                longest = window * thread.get("exited", 1)
                assert 0 <= nanos(thread["observed"]) <= longest, (str(observed), thread)

    def test_hardly_anything_is_unobserved(self, taken):
        for observed in taken.observed:
            for thread in all_threads(observed.ours):
                parts, whole = books(thread)
                assert parts["unobserved"] <= whole / 100 + MILLISECOND, (str(observed), thread)

    def test_circuits(self, taken):
        """Steps: CPU time and what the kernel did with the rest."""
        count = 0
        for observed in taken.observed:
            ours = observed.ours
            for worker in workers(ours):
                for node in circuits(ours, worker):
                    prefix = "" if node == "n" else "circuit_"
                    wall = reading(ours, worker, node, "circuit_runtime_seconds")
                    cpu = reading(ours, worker, node, "circuit_cpu_time_seconds")
                    check_share(ours, worker, node, prefix, wall, cpu)
                    count += 1
        assert count > 300

    def test_operators(self, taken):
        """Their CPU time is a percentage, in microseconds."""
        count = 0
        for observed in taken.observed:
            ours = observed.ours
            for worker in workers(ours):
                for node in operators(ours, worker):
                    wall = reading(ours, worker, node, "runtime_seconds")
                    cpu = reading(ours, worker, node, "nonblocking_percent")["numerator"]
                    check_operator(ours, worker, node, wall, cpu, str(observed))
                    count += 1
        assert count > 5000

    def test_steps_fill_the_window(self, taken):
        """Steps, pauses and pauses that an edge cuts."""
        for observed in taken.observed:
            for worker in workers(observed.ours):
                names = ("runtime", "idle_time", "edge_idle")
                parts = [
                    reading(observed.ours, worker, "n", f"circuit_{name}_seconds") or 0
                    for name in names
                ]
                window = window_nanos(observed.ours)
                assert abs(sum(parts) - window) <= MILLISECOND, (str(observed), parts, window)

    def test_nothing_is_negative(self, taken):
        """Nor wrapped around: no duration of a thread or node is longer than all of them."""
        for observed in taken.observed:
            assert all(0 <= number < 2**63 for number in all_numbers(observed.ours)), observed
            longest = 4 * window_nanos(observed.ours)
            for worker in workers(observed.ours):
                for node, meta in metadata(observed.ours, worker).items():
                    # An open step may have begun long before, and what it waits for after it.
                    age = reading(observed.ours, worker, node, "circuit_open_step_seconds")
                    limits = {
                        "circuit_open_step_seconds": 2**63,
                        "circuit_open_wait_seconds": age,
                    }
                    for entry in meta:
                        if entry["metric_id"].endswith("_seconds"):
                            limit = limits.get(entry["metric_id"], longest)
                            assert value_of(entry) <= limit, (str(observed), node, entry)


def check_operator(ours, worker, node, wall, cpu, where):
    """
    Where its CPU time is not more than its wall time, by which two clocks may differ, that and what
    the kernel did with the rest are the wall time.
    """
    blocked = by_label(ours, worker, node, "blocked_seconds", "cause")
    parts = ("run_queue", "preempted", "unobserved")
    off = sum(blocked.values()) + sum(
        reading(ours, worker, node, f"{part}_seconds") or 0 for part in parts
    )
    if cpu * 1000 <= wall:
        assert 0 <= wall - off and (wall - off) // 1000 == cpu, (where, node, wall, off, cpu)
    else:
        assert off == 0, (where, node, wall, off, cpu)

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Engine mode: the engine's own counters, read from its memory, without one trap."""

import json
import signal
import time

import pytest
from harness import COMPLETE, INCOMPLETE, TOP, eventually
from kernel import changed_code, cpu_ticks
from profiles import (
    MILLISECOND,
    SECOND,
    breakdown,
    circuits,
    metadata,
    nanos,
    operators,
    reading,
    readings,
    window_nanos,
    workers,
)

# What the engine counts of an operator, in its own encodings: nanoseconds, microseconds in shares.
OPERATOR = ["invocations_count", "runtime_seconds", "nonblocking_percent", "runtime_percent"]
CIRCUIT = [
    "steps_count",
    "circuit_runtime_seconds",
    "circuit_cpu_time_seconds",
    "circuit_nonblocking_percent",
    "circuit_wait_time_seconds",
    "circuit_wait_by_reason_seconds",
    "circuit_idle_time_seconds",
]


def differences(window, nodes, metrics):
    """One line for each reading that is not the very same; `nodes` lists those of a profile."""
    faults = []
    for worker in workers(window.builtin):
        listed = nodes(window.builtin, worker)
        assert listed and nodes(window.ours, worker) == listed
        for node in listed:
            for metric in metrics:
                builtin = readings(window.builtin, worker, node, metric)
                ours = readings(window.ours, worker, node, metric)
                assert builtin, f"{node} has no {metric}"
                if ours != builtin:
                    faults.append(f"worker {worker} {node} {metric}: {ours}, built-in {builtin}")
    return faults


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name", ["join", "nested", "wide", "long join", "long nested"])
class TestEqual:
    """The window begins before the first step and ends after the last: not one bit differs."""

    def test_mode(self, windows, name):
        about = windows[name].ours["dbprof"]
        assert about["mode"] == "engine" and about["complete"], about["lost"]

    def test_operators(self, windows, name):
        faults = differences(windows[name], operators, OPERATOR)
        assert not faults, "\n" + "\n".join(faults)

    def test_circuits(self, windows, name):
        faults = differences(windows[name], circuits, CIRCUIT)
        assert not faults, "\n" + "\n".join(faults)


def test_all_operators_are_compared(windows):
    """The equalities above are of many numbers, and of numbers that are not zero."""
    assert len(operators(windows["join"].builtin, 0)) >= 49
    nested = operators(windows["nested"].builtin, 0)
    assert sum(node.startswith("nn4_n") for node in nested) > 10 and "nn4" in nested
    for worker in workers(windows["join"].builtin):
        for node in operators(windows["join"].builtin, worker):
            assert reading(windows["join"].ours, worker, node, "runtime_seconds") > 1000


def test_no_trap(lab):
    """The target's code stays as it is in the file."""
    target = lab.target("join", workers=2, steps=300, builtin=lab.path("b.json"))
    profiler = lab.profiler("--pid", target.pid, "-o", lab.path("ours.json"))
    profiler.wait_attached()
    assert changed_code(target.pid) == []
    target.go()
    target.wait_done()
    assert changed_code(target.pid) == []
    assert profiler.stop() == COMPLETE, profiler.describe()
    assert json.loads(lab.path("ours.json").read_text())["dbprof"]["cost"]["traps"] == 0


@pytest.mark.parametrize("count", [1, 2])
def test_in_the_middle_of_a_step(lab, count):
    """`spin`: the step never ends, so the engine has counted nothing of it yet."""
    target = lab.target("spin", workers=count, steps=10, builtin=lab.path("b.json"))
    target.go()
    time.sleep(1.5)
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "-d", "2s")
    assert profiler.wait(60) == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    window = window_nanos(ours)
    assert ours["dbprof"]["mode"] == "engine" and len(ours["worker_profiles"]) == count
    assert len(ours["dbprof"]["open_steps"]) == count
    for worker in range(count):
        step = ours["dbprof"]["open_steps"][worker]
        assert step["exact"] and step["reason"] is None
        assert nanos(step["age"]) > window + SECOND
        assert reading(ours, worker, "n", "steps_count") == 0
        assert abs(reading(ours, worker, "n", "circuit_runtime_seconds") - window) <= MILLISECOND
        assert sum(breakdown(ours, worker, "n").values()) == 0
        on_cpu = nanos(ours["dbprof"]["workers"][worker]["on_cpu"])
        cpu = reading(ours, worker, "n", "circuit_cpu_time_seconds")
        assert cpu > window / 4 and abs(cpu - on_cpu) <= on_cpu / 50 + MILLISECOND


@pytest.mark.parametrize(
    "scenario, options",
    [
        ("join", {"workers": 2}),
        ("nested", {"workers": 2, "records": 30}),
        ("wide", {"workers": 2, "operators": 2000}),
        ("sleeper", {"workers": 1}),
    ],
)
def test_a_thousand_readings(lab, scenario, options):
    """While the worker counts on: each holds together, and none goes back; see the C source."""
    target = lab.target(scenario, steps=10**6, builtin=lab.path("b.json"), **options)
    target.go()
    eventually(lambda: cpu_ticks(target.pid) > 50, 20, "the target makes steps")
    result = lab.process([TOP / "build" / "unit" / "live_counters", target.pid, 1000])
    assert result.wait(60) == 0, result.describe()
    said = json.loads(result.stdout)
    assert said["readings"] == 1000 and said["failed"] == 0 and said["faults"] == 0
    assert said["steps"] >= 10, "not under load"


def stopped(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


class StoppedWhileItCounts(Exception):
    """
    A signal stops a worker as it leaves a system call, such as that for its CPU clock, which it makes
    while it writes its counters: stopped there, they do not settle, and the profile says so.
    """


class Slices:
    """Windows one after another; between them the target is stopped, so that nothing is missed."""

    def __init__(self, lab, target):
        self.lab, self.target = lab, target
        self.taken = []
        self.profiler = None

    def begin(self):
        self.output = self.lab.path(f"slice-{len(self.taken)}.json")
        self.profiler = self.lab.profiler("--pid", self.target.pid, "-o", self.output)
        self.profiler.wait_attached()

    def end(self):
        status = self.profiler.stop()
        self.taken.append(json.loads(self.output.read_text()))
        if status == INCOMPLETE and self.taken[-1]["dbprof"]["lost"]["torn"]:
            raise StoppedWhileItCounts
        assert status == COMPLETE, self.profiler.describe()

    def cut(self):
        """Ends a window and begins the next one, wherever the target is just now."""
        self.target.popen.send_signal(signal.SIGSTOP)
        eventually(lambda: stopped(self.target.pid), 10, "the target is stopped")
        self.end()
        self.begin()
        self.target.popen.send_signal(signal.SIGCONT)

    def sum(self, worker, node, metric):
        return sum(reading(ours, worker, node, metric) or 0 for ours in self.taken)

    def gaps(self, worker, circuit):
        """Between windows, while a step of the circuit was open."""
        for before, after in zip(self.taken, self.taken[1:]):
            for step in before["dbprof"]["open_steps"]:
                if (step["worker"], step["circuit"]) == (worker, circuit):
                    start = before["dbprof"]["window"]["start_monotonic_nanos"]
                    following = after["dbprof"]["window"]["start_monotonic_nanos"]
                    yield following - start - window_nanos(before)


def cut_into_windows(lab, scenario, options):
    """The windows, and what the built-in profiler says of all of them together."""
    target = lab.target(scenario, workers=2, builtin=lab.path("b.json"), **options)
    slices = Slices(lab, target)
    try:
        slices.begin()
        target.go()
        for _ in range(5):
            ticks = cpu_ticks(target.pid)
            eventually(lambda: cpu_ticks(target.pid) > ticks + 10, 20, "the target makes steps")
            slices.cut()
        target.wait_done()
        slices.end()
        target.finish()
    except StoppedWhileItCounts:
        target.kill()
        raise
    return slices, target.builtin_profile()


@pytest.mark.parametrize(
    "scenario, options", [("join", {"steps": 900}), ("nested", {"steps": 50, "records": 30})]
)
def test_consecutive_windows_add_up(lab, scenario, options):
    """Cut in the middle of steps and evaluations, they are the whole without loss or overlap."""
    for _ in range(5):
        try:
            slices, builtin = cut_into_windows(lab, scenario, options)
            break
        except StoppedWhileItCounts:
            continue
    assert len(slices.taken) == 6
    assert sum(bool(ours["dbprof"]["open_steps"]) for ours in slices.taken) >= 2
    for worker in workers(builtin):
        check_operators_add_up(slices, builtin, worker)
        for circuit in circuits(builtin, worker):
            check_circuit_adds_up(slices, builtin, worker, circuit)


def check_operators_add_up(slices, builtin, worker):
    """The engine counts whole evaluations, so that no edge cuts one: nothing is lost."""
    for node in operators(builtin, worker):
        for metric in ("invocations_count", "runtime_seconds"):
            whole = reading(builtin, worker, node, metric)
            assert slices.sum(worker, node, metric) == whole, f"{worker} {node} {metric}"


def check_circuit_adds_up(slices, builtin, worker, circuit):
    def whole(metric):
        return reading(builtin, worker, circuit, metric)

    assert slices.sum(worker, circuit, "steps_count") == whole("steps_count")
    gaps = sum(slices.gaps(worker, circuit))
    runtime = slices.sum(worker, circuit, "circuit_runtime_seconds") + gaps
    assert abs(runtime - whole("circuit_runtime_seconds")) <= MILLISECOND
    # Reading the thread's CPU clock is not one moment with reading the counters.
    cpu = slices.sum(worker, circuit, "circuit_cpu_time_seconds")
    assert abs(cpu - whole("circuit_cpu_time_seconds")) <= 2 * MILLISECOND
    waited = slices.sum(worker, circuit, "circuit_wait_time_seconds")
    longest = whole("circuit_wait_time_seconds")
    assert longest - gaps - 2 * MILLISECOND <= waited <= longest + 2 * MILLISECOND


def test_a_window_before_the_first_step(lab):
    """Counters that do not exist yet are zero."""
    target = lab.target("join", workers=2, builtin=lab.path("b.json"))
    output = lab.path("ours.json")
    process = lab.run("-q", "--pid", target.pid, "-d", "200ms", "-o", output)
    assert process.popen.returncode == COMPLETE, process.describe()
    ours = json.loads(output.read_text())
    assert ours["dbprof"]["mode"] == "engine"
    for worker in workers(ours):
        assert operators(ours, worker) == []
        assert not reading(ours, worker, "n", "steps_count")
        assert not reading(ours, worker, "n", "circuit_runtime_seconds")
        assert len(metadata(ours, worker)) > 40

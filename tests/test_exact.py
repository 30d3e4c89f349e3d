# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Exact mode: one trap for each poll, at which the engine's own ElapsedTime is read."""

import json

import pytest
from harness import COMPLETE
from kernel import changed_code
from profiles import (
    breakdown,
    circuits,
    invocations,
    operator_times,
    operators,
    reading,
    workers,
)

OPERATOR = ["invocations_count", "runtime_seconds", "nonblocking_percent", "runtime_percent"]
# The sleeper's operator is polled more than once in each evaluation.
WINDOWS = [f"{name} --mode exact" for name in ("join", "nested", "wide", "sleeper")]


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name", WINDOWS)
class TestEqual:
    """The window begins before the first step and ends after the last: not one bit differs."""

    def test_mode(self, windows, name):
        about = windows[name].ours["dbprof"]
        assert about["mode"] == "exact" and about["complete"], about["lost"]

    @pytest.mark.parametrize("metric", OPERATOR)
    def test_operators(self, windows, name, metric):
        window = windows[name]
        for worker in workers(window.builtin):
            builtin = operator_times(window.builtin, worker, metric)
            assert len(builtin) >= (2 if "sleeper" in name else 39)
            assert None not in builtin.values()
            ours = operator_times(window.ours, worker, metric)
            assert set(ours) == set(builtin)
            faults = [
                f"{node}: {ours[node]}, built-in {builtin[node]}"
                for node in builtin
                if ours[node] != builtin[node]
            ]
            assert not faults, f"worker {worker}\n" + "\n".join(faults)

    def test_evaluations_are_polls_that_completed(self, windows, name):
        """An operator that awaits is polled several times, and counted once."""
        window = windows[name]
        for worker in workers(window.builtin):
            for node, count in invocations(window.ours, worker).items():
                circuit = node.rpartition("_")[0] or "n"
                assert count == reading(window.ours, worker, circuit, "steps_count"), node


def test_traps_are_counted(windows):
    """At least one for each evaluation, and what they cost is in the profile."""
    window = windows["join --mode exact"]
    evaluations = sum(sum(invocations(window.ours, w).values()) for w in workers(window.ours))
    cost = window.ours["dbprof"]["cost"]
    assert evaluations > 10_000
    # Over a part of a long window they are counted, for all of it they are estimated.
    assert cost["traps"] > 0.8 * evaluations
    assert cost["share"] > 0.01


def test_needs_no_builtin_profiler(lab):
    """Timed::poll measures always; whether the CPU profiler listens does not matter."""
    target = lab.target("nested", workers=2, steps=40, records=30)
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", "exact")
    profiler.wait_attached()
    assert len(changed_code(target.pid)) >= 5
    target.go()
    target.wait_done()
    assert profiler.stop() == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    for worker in workers(ours):
        assert len(operators(ours, worker)) >= 39
        for node in operators(ours, worker):
            cpu = reading(ours, worker, node, "nonblocking_percent")
            assert reading(ours, worker, node, "runtime_seconds") > 0 and cpu["numerator"] > 0


@pytest.mark.seconds(200)
def test_steps_and_waits_too(windows):
    """The other probes count as they do without it."""
    window = windows["nested --mode exact"]
    for worker in workers(window.builtin):
        for circuit in circuits(window.builtin, worker):
            builtin = reading(window.builtin, worker, circuit, "steps_count")
            assert reading(window.ours, worker, circuit, "steps_count") == builtin
            waits = breakdown(window.ours, worker, circuit)
            wait = reading(window.ours, worker, circuit, "circuit_wait_time_seconds")
            assert sum(waits.values()) == wait


def test_attached_in_the_middle(lab):
    """Evaluations that end in the window are counted, as steps are."""
    target = lab.target("join", workers=2, steps=3000, builtin=lab.path("b.json"))
    target.go()
    output = lab.path("ours.json")
    process = lab.run("-q", "--pid", target.pid, "-d", "500ms", "-o", output, "--mode", "exact")
    assert process.popen.returncode == COMPLETE, process.describe()
    ours = json.loads(output.read_text())
    for worker in workers(ours):
        counts = invocations(ours, worker).values()
        steps = reading(ours, worker, "n", "steps_count")
        assert steps > 20 and all(abs(count - steps) <= 1 for count in counts), (steps, counts)

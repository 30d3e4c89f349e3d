# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Steps that never end, and circuits that never step: a profile is to be had just then."""

import json
import time

import pytest
from harness import COMPLETE
from profiles import (
    MILLISECOND,
    SECOND,
    breakdown,
    circuits,
    graph_nodes,
    nanos,
    reading,
    window_nanos,
    workers,
)

BEFORE = 1.5  # seconds that the third step has been open when the profiler comes
DURATION = 2


# With park probes, and without any: then the engine's memory tells what is waited for.
MODES = ["auto", "waits", "exact"]


def profile_of_third_step(lab, scenario, count, mode):
    """A window that begins and ends within the step that never ends."""
    target = lab.target(scenario, workers=count, steps=10)
    target.go()
    time.sleep(BEFORE)
    output = lab.path("profile.json")
    arguments = ["--pid", target.pid, "--output", output, "--mode", mode]
    profiler = lab.profiler(*arguments, "--duration", f"{DURATION}s")
    assert profiler.wait(60) == COMPLETE, profiler.describe()
    assert target.alive() and not target.stdout.endswith("done")
    ours = json.loads(output.read_text())
    assert len(ours["worker_profiles"]) == count
    window = window_nanos(ours)
    assert DURATION * SECOND <= window < (DURATION + 0.5) * SECOND
    assert sorted(open_steps(ours)) == [(worker, "n") for worker in range(count)]
    assert "open" in profiler.stdout
    return ours, profiler.stdout


def open_steps(ours):
    steps = {(step["worker"], step["circuit"]): step for step in ours["dbprof"]["open_steps"]}
    assert len(steps) == len(ours["dbprof"]["open_steps"])
    return steps


def check_step_is_open(ours, worker):
    """That it is open, since when, and that all of the window lies within it."""
    step = open_steps(ours)[worker, "n"]
    window = window_nanos(ours)
    age = nanos(step["age"])
    assert age >= (window if not step["exact"] else window + (BEFORE - 0.5) * SECOND)
    assert age < window + 60 * SECOND
    assert reading(ours, worker, "n", "steps_count") == 0
    runtime = reading(ours, worker, "n", "circuit_runtime_seconds")
    assert abs(runtime - window) <= MILLISECOND
    assert reading(ours, worker, "n", "circuit_open_step_seconds") == age
    return step


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 2])
def test_stuck(lab, count, mode):
    """It awaits something that never comes: the operator is pending all the time."""
    ours, summary = profile_of_third_step(lab, "stuck", count, mode)
    window = window_nanos(ours)
    for worker in range(count):
        step = check_step_is_open(ours, worker)
        assert step["reason"] == "operator_pending"
        assert nanos(step["waiting"]) >= window - MILLISECOND
        waits = breakdown(ours, worker, "n")
        assert abs(waits["operator_pending"] - window) <= MILLISECOND
        assert sum(waits.values()) == reading(ours, worker, "n", "circuit_wait_time_seconds")
        assert reading(ours, worker, "n", "circuit_cpu_time_seconds") < 50 * MILLISECOND
    assert "operator_pending" in summary


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 2])
def test_spin(lab, count, mode):
    """It computes: it waits for nothing, and its CPU time is what it got of the machine."""
    ours, _ = profile_of_third_step(lab, "spin", count, mode)
    window = window_nanos(ours)
    for worker in range(count):
        step = check_step_is_open(ours, worker)
        assert step["reason"] is None and "waiting" not in step
        assert reading(ours, worker, "n", "circuit_wait_time_seconds") == 0
        assert sum(breakdown(ours, worker, "n").values()) == 0
        cpu = reading(ours, worker, "n", "circuit_cpu_time_seconds")
        assert window / 4 < cpu <= window + MILLISECOND


def test_a_nested_circuit_stays_out_of_it(lab):
    """Only circuits in a step are reported as open."""
    target = lab.target("nested", workers=1, steps=3, records=10)
    ours, _ = lab.profile_steps(target)
    assert ours["dbprof"]["open_steps"] == []


def test_idle(lab):
    """A circuit that was built and never stepped has a graph and no steps."""
    target = lab.target("idle", workers=2)
    output = lab.path("profile.json")
    profiler = lab.profiler("--pid", target.pid, "--output", output, "--duration", "500ms")
    assert profiler.wait(60) == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    assert len(graph_nodes(ours)) > 40
    assert open_steps(ours) == {}
    assert len(ours["worker_profiles"]) == 2
    for worker in workers(ours):
        assert not reading(ours, worker, "n", "steps_count")
        for circuit in circuits(ours, worker):
            assert reading(ours, worker, circuit, "circuit_runtime_seconds") == 0
            assert reading(ours, worker, circuit, "circuit_wait_time_seconds") == 0
    target.finish()

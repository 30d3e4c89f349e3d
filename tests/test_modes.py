# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which mode is taken, what the budget does, and what both say when they cannot."""

import json
import time

import pytest
from conftest import LONG
from harness import COMPLETE, eventually
from kernel import changed_code
from profiles import (
    MILLISECOND,
    SECOND,
    breakdown,
    circuits,
    nanos,
    operators,
    reading,
    workers,
)
from refusal import Refuser

SHORT = ["--duration", "300ms"]


def about(path):
    return json.loads(path.read_text())["dbprof"]


class TestAuto:
    """The engine's counters where there are any, else samples."""

    def test_with_the_builtin_profiler(self, lab):
        target = lab.target("join", workers=2, builtin=lab.path("b.json"))
        process = lab.run("--pid", target.pid, *SHORT, "-o", lab.path("ours.json"))
        assert process.popen.returncode == COMPLETE, process.describe()
        assert about(lab.path("ours.json"))["mode"] == "engine"
        assert about(lab.path("ours.json"))["frequency_hz"] == 0

    def test_without(self, lab):
        target = lab.target("join", workers=2, steps=100_000)
        target.go()
        process = lab.run("--pid", target.pid, *SHORT, "-o", lab.path("ours.json"))
        assert process.popen.returncode == COMPLETE, process.describe()
        assert about(lab.path("ours.json"))["mode"] == "sampled"
        assert about(lab.path("ours.json"))["frequency_hz"] > 0

    def test_asked_for(self, lab):
        """By its name it is the same."""
        target = lab.target("idle", workers=1)
        process = lab.run(
            "--pid", target.pid, *SHORT, "-o", lab.path("ours.json"), "--mode", "auto"
        )
        assert process.popen.returncode == COMPLETE, process.describe()
        assert about(lab.path("ours.json"))["mode"] == "sampled"

    def test_two_processes(self, lab):
        """Each in the mode that is the best for it."""
        first = lab.target("join", workers=2, builtin=lab.path("b.json"))
        second = lab.target("join", workers=2)
        pids = ["--pid", first.pid, "--pid", second.pid]
        process = lab.run(*pids, *SHORT, "-o", lab.path("x.json"))
        assert process.popen.returncode == COMPLETE, process.describe()
        assert about(lab.path(f"x-{first.pid}.json"))["mode"] == "engine"
        assert about(lab.path(f"x-{second.pid}.json"))["mode"] == "sampled"


@pytest.mark.parametrize("mode", ["sampled", "exact", "waits"])
@pytest.mark.parametrize("builtin", [False, True])
def test_mode_that_is_asked_for(lab, mode, builtin):
    """Is the one that is used, and measures operators or not."""
    builtin = lab.path("b.json") if builtin else None
    target = lab.target("nested", workers=2, steps=30, records=20, builtin=builtin)
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--mode", mode)
    profiler.wait_attached()
    target.go()
    target.wait_done()
    assert profiler.stop() == COMPLETE, profiler.describe()
    ours = json.loads(output.read_text())
    assert ours["dbprof"]["mode"] == mode
    for worker in workers(ours):
        assert reading(ours, worker, "n", "steps_count") == 30
        assert bool(operators(ours, worker)) == (mode != "waits")


def test_engine_without_its_profiler(lab):
    """There is nothing to read: refused, with what to do instead."""
    refused = Refuser(lab)
    target = lab.target("join", workers=2)
    refused(
        "--pid", target.pid, *SHORT, "--mode", "engine",
        says=["CPU profiler is off", target.pid, "--mode sampled"],
    )  # fmt: skip
    assert target.alive() and changed_code(target.pid) == []


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--mode", "fast"], "'fast'"),
        (["--mode", ""], "''"),
        (["--mode", "Engine"], "'Engine'"),
        (["--budget", "0"], "'0'"),
        (["--budget", "-1"], "'-1'"),
        (["--budget", "0.001"], "'0.001'"),
        (["--budget", "101"], "'101'"),
        (["--budget", "1e9"], "'1e9'"),
        (["--budget", "nan"], "'nan'"),
        (["--budget", "much"], "'much'"),
        (["--budget", "1%%"], "'1%%'"),
        (["--frequency", "0"], "'0'"),
        (["--frequency", "-5"], "'-5'"),
        (["--frequency", "10001"], "'10001'"),
        (["--frequency", "99.5"], "'99.5'"),
        (["--steps", "fast"], "'fast'"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_usage(lab, arguments, says):
    """One sentence that names the option, what it takes and what was given."""
    process = lab.run("--pid", "1", *arguments)
    assert process.popen.returncode == 2, process.describe()
    sentence = process.lines["stderr"][0]
    assert arguments[0] in sentence and says in sentence and "takes" in sentence
    assert process.stdout == ""


def test_modes_are_in_the_help(lab):
    text = lab.run("--help").stdout
    for word in ("--mode", "--budget", "--frequency", "--steps", "engine", "sampled", "exact"):
        assert word in text


def check_cost(cost):
    for part in ("own_cpu", "target_cpu"):
        assert nanos(cost[part]) > 0
    program = nanos(cost["program"]) if cost["program"] else 0
    spent = cost["traps"] * cost["trap_nanos"] + program + nanos(cost["own_cpu"])
    assert abs(spent / nanos(cost["target_cpu"]) - cost["share"]) <= 0.01 * cost["share"] + 1e-5


@pytest.mark.parametrize("mode", ["", " --mode waits", " --mode sampled", " --mode exact"])
def test_cost_is_stored(windows, mode):
    """What the profiler cost is in the profile and in the summary."""
    window = windows[f"join{mode}"]
    cost = window.ours["dbprof"]["cost"]
    check_cost(cost)
    assert (cost["traps"] > 0) == (mode != "")
    assert 200 < cost["trap_nanos"] < 100_000
    assert "% of the program's CPU" in window.profiler.stdout
    # Only auto keeps a budget.
    assert cost["budget"] == (0.01 if mode == "" else None)
    assert cost["dropped"] is None


# Windows without the built-in profiler, which would make auto take its counters.
BUSY = {
    "spine": dict(workers=1, steps=20000),
    "sharded": dict(workers=2, steps=18000),
    "sleeper": dict(workers=2, steps=4500),
    "join": dict(workers=2, steps=2500),
    "nested": dict(workers=2, steps=200, records=30),
}


def in_budget(lab, scenario, steps, budget="0.01", **options):
    """Of one run: auto with next to no budget, and all probes all the way."""
    target = lab.target(scenario, steps=steps, **options)
    auto, waits = lab.path("auto.json"), lab.path("waits.json")
    profilers = [
        lab.profiler("--pid", target.pid, "-o", auto, "--budget", budget),
        lab.profiler("--pid", target.pid, "-o", waits, "--mode", "waits"),
    ]
    for profiler in profilers:
        profiler.wait_attached()
    target.go()
    seconds = target.wait_done()
    for profiler in profilers:
        assert profiler.stop() == COMPLETE, profiler.describe()
    return seconds, json.loads(auto.read_text()), json.loads(waits.read_text())


@pytest.mark.seconds(200)
@pytest.mark.parametrize("scenario", BUSY)
def test_small_budget(lab, scenario):
    """
    The park probes go. Wait reasons, read from the engine's totals from then on, are as close to
    those of the probes as these are to the built-in profiler's (test_parity.py). So are they where
    the step probes have to go, too, as with this budget.
    """
    options = dict(BUSY[scenario])
    for _ in range(3):
        seconds, ours, waits = in_budget(lab, scenario, **options)
        if seconds >= LONG:
            break
        options["steps"] = int(options["steps"] * 1.3 * LONG / seconds)
    assert seconds >= LONG
    about = ours["dbprof"]
    assert about["mode"] == "sampled" and waits["dbprof"]["mode"] == "waits"
    assert about["cost"]["budget"] == 0.0001 and about["cost"]["dropped"].startswith("park probes")
    assert waits["dbprof"]["cost"]["dropped"] is None
    faults = []
    for worker in workers(waits):
        probed, read = (breakdown(profile, worker, "n") for profile in (waits, ours))
        faults += [
            f"worker {worker} {reason}: {read[reason] / 1e6:.1f} ms, "
            f"by probes {probed[reason] / 1e6:.1f} ms"
            for reason in probed
            if abs(read[reason] - probed[reason]) > 0.02 * probed[reason] + MILLISECOND
        ]
    assert not faults, "\n" + "\n".join(faults)


# Of what is estimated by turns: its interval is one of 95 %, and while they are watched steps are
# a little slower than otherwise.
TURNS_WITHIN = 0.06
FILLS = ("circuit_runtime_seconds", "circuit_idle_time_seconds", "circuit_edge_idle_seconds")


@pytest.mark.seconds(100)
def test_steps_in_turns(lab):
    """
    Where step probes cost more than the budget, steps are watched for part of the time, and their
    number and time are estimates with an interval, that a run of probes all the way lies in.
    """
    options = dict(workers=2, steps=4000)
    seconds, ours, waits = in_budget(lab, "join", budget="1", **options)
    cost = ours["dbprof"]["cost"]
    assert cost["dropped"] == "park probes, and step probes for part of the time"
    assert cost["traps"] < waits["dbprof"]["cost"]["traps"] / 2
    for worker in ours["dbprof"]["workers"]:
        number, told = worker["worker"], worker["estimated_steps"]
        window = nanos(ours["dbprof"]["window"]["length"])
        assert 0 < nanos(told["watched"]) < nanos(told["of"]) <= window
        assert told["turns"] >= 3, seconds
        # Steps and pauses fill the window to the nanosecond all the same.
        assert sum(reading(ours, number, "n", metric) for metric in FILLS) == nanos(told["of"])
        steps, true = (reading(p, number, "n", "steps_count") for p in (ours, waits))
        assert abs(steps - true) <= told["steps_interval"] + TURNS_WITHIN * true
        time, true = (reading(p, number, "n", "circuit_runtime_seconds") for p in (ours, waits))
        assert abs(time - true) <= nanos(told["runtime_interval"]) + TURNS_WITHIN * true
    for worker in waits["dbprof"]["workers"]:
        assert worker["estimated_steps"] is None


def test_large_budget(lab):
    """All probes stay."""
    target = lab.target("join", workers=2, steps=100_000)
    target.go()
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--budget", "100", "-d", "2500ms")
    profiler.wait_attached()
    probes = changed_code(target.pid)
    time.sleep(2)
    assert changed_code(target.pid) == probes and len(probes) >= 4
    assert profiler.wait(60) == COMPLETE, profiler.describe()
    cost = about(output)["cost"]
    assert cost["dropped"] is None and cost["budget"] == 1


def test_dropped_probes_are_gone(lab):
    """Not merely unheard: the target pays for them no longer."""
    target = lab.target("join", workers=2, steps=100_000)
    target.go()
    output = lab.path("ours.json")
    profiler = lab.profiler("--pid", target.pid, "-o", output, "--budget", "0.01")
    profiler.wait_attached()
    before = changed_code(target.pid)
    profiler.expect("stderr", r"own totals from now on", 10)
    seen = []

    def gone():
        seen.append(changed_code(target.pid))
        return not seen[-1]

    eventually(gone, 10, "between turns steps are not probed either")
    # First parks: steps are still probed then.
    assert any(set(code) < set(before) for code in seen if code), seen
    profiler.expect("stderr", r"steps are watched in turns from now on", 10)
    # Most of the window lies behind the probes' end, so that the waits are those of the totals.
    time.sleep(2)
    assert profiler.stop() == COMPLETE, profiler.describe()
    assert "park probes" in profiler.stdout
    assert reading(json.loads(output.read_text()), 0, "n", "circuit_wait_time_seconds") > SECOND / 4

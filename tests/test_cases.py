# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Faults that users reported of tools like this one; each test names where."""

import json
import time

import pytest
from conftest import with_probes
from harness import COMPLETE, INCOMPLETE
from profiles import (
    MILLISECOND,
    REASONS,
    SECOND,
    all_threads,
    books,
    breakdown,
    circuits,
    metadata,
    reading,
    value_of,
    window_nanos,
    workers,
)

ALL = ["spine", "sharded", "sleeper", "join", "nested", "wide", "stuck", "spin", "idle"]
LONG = ["long spine", "long sharded", "long sleeper", "long join", "long nested"]
WAIT = "circuit_wait_time_seconds"
RUNTIME = "circuit_runtime_seconds"


def all_durations(ours):
    """(where, nanoseconds) of every duration of a profile."""
    for worker in workers(ours):
        for node, meta in metadata(ours, worker).items():
            for entry in meta:
                if entry["value"].get("type") == "duration":
                    yield f"worker {worker} {node} {entry['metric_id']}", value_of(entry)


def short_window(lab, target, length, name):
    output = lab.path(name)
    process = lab.run("-q", "--pid", target.pid, "-d", length, "-o", output)
    assert process.popen.returncode == COMPLETE, process.describe()
    return json.loads(output.read_text())


class TestEdges:
    """bcc 558: waits that cross an edge of the window are cut there, and counted."""

    def test_wait_across_both_edges(self, lab):
        target = lab.target("stuck", workers=1, steps=5)
        target.go()
        time.sleep(0.5)
        for number in range(3):
            ours = short_window(lab, target, "400ms", f"{number}.json")
            waits = breakdown(ours, 0, "n")
            assert abs(waits["operator_pending"] - window_nanos(ours)) <= MILLISECOND

    def test_naps_cut_at_the_edges(self, lab):
        """Naps of a millisecond fill nearly all of each window, however short it is."""
        target = lab.target("sleeper", workers=1, steps=30000)
        target.go()
        time.sleep(0.3)
        for number, length in enumerate(["20ms", "30ms", "50ms", "100ms"] * 3):
            ours = short_window(lab, target, length, f"{number}.json")
            parts = (RUNTIME, "circuit_idle_time_seconds", "circuit_edge_idle_seconds")
            covered = sum(reading(ours, 0, "n", part) or 0 for part in parts)
            assert abs(covered - window_nanos(ours)) <= MILLISECOND / 2
            pending = breakdown(ours, 0, "n")["operator_pending"]
            assert 0.3 * window_nanos(ours) < pending <= reading(ours, 0, "n", RUNTIME)

    def test_windows_add_up(self, lab):
        """feldera 5945: each window counts from zero, and together they make the whole."""
        target = lab.target("sleeper", workers=1, steps=1500, builtin=lab.path("b.json"))
        outputs = [lab.path(f"{number}.json") for number in range(4)]
        whole = lab.profiler("--pid", target.pid, "-o", lab.path("whole.json"))
        whole.wait_attached()
        target.go()
        for output in outputs:
            process = lab.run("-q", "--pid", target.pid, "-d", "200ms", "-o", output)
            assert process.popen.returncode == COMPLETE, process.describe()
        target.wait_done()
        assert whole.stop() == COMPLETE
        target.finish()
        parts = [json.loads(output.read_text()) for output in outputs]
        total = json.loads(lab.path("whole.json").read_text())
        counts = [reading(part, 0, "n", "steps_count") for part in parts]
        assert reading(total, 0, "n", "steps_count") == 1500
        assert all(50 < count < 400 for count in counts) and sum(counts) < 1500
        for part in parts:
            assert reading(part, 0, "n", RUNTIME) <= window_nanos(part)
        starts = [part["dbprof"]["window"]["start_monotonic_nanos"] for part in parts]
        for start, following, part in zip(starts, starts[1:], parts):
            assert start + window_nanos(part) <= following


@pytest.mark.seconds(200)
@pytest.mark.parametrize("name", with_probes(ALL + LONG))
class TestNoUnderflow:
    """bcc 4011: no subtraction wraps."""

    def test_durations_fit_the_window(self, windows, name):
        ours = windows[name].ours
        window = window_nanos(ours)
        assert 0 < window < 200 * SECOND
        limits = {"circuit_runtime_elapsed_seconds": 2 * len(ours["worker_profiles"])}
        found = list(all_durations(ours))
        for where, value in found:
            factor = limits.get(where.rpartition(" ")[2], 1)
            assert 0 <= value <= factor * window, f"{where}: {value} of {window}"
        assert found or name == "idle"

    def test_parts_are_not_more_than_the_whole(self, windows, name):
        ours = windows[name].ours
        for worker in workers(ours):
            for circuit in circuits(ours, worker):
                run = reading(ours, worker, circuit, RUNTIME)
                cpu = reading(ours, worker, circuit, "circuit_cpu_time_seconds")
                assert reading(ours, worker, circuit, WAIT) <= run
                assert cpu <= run + run // 100 + MILLISECOND

    def test_root_covers_nested(self, windows, name):
        """bcc 2548: nested steps lie within the root's and do not overwrite its start."""
        ours = windows[name].ours
        for worker in workers(ours):
            nested = [circuit for circuit in circuits(ours, worker) if circuit != "n"]
            for metric in (RUNTIME, WAIT):
                total = sum(reading(ours, worker, circuit, metric) for circuit in nested)
                assert total <= (reading(ours, worker, "n", metric) or 0)

    def test_closed_books(self, windows, name):
        """Every nanosecond of every thread is accounted for."""
        ours = windows[name].ours
        assert all(worker["tid"] for worker in ours["dbprof"]["workers"])
        assert len(all_threads(ours)) > len(ours["worker_profiles"])
        for thread in all_threads(ours):
            parts, observed = books(thread)
            assert sum(parts.values()) == observed, thread
            # Those that have exited are one entry together.
            assert observed <= thread.get("exited", 1) * window_nanos(ours), thread
            assert parts["unobserved"] <= observed / 100 + MILLISECOND, thread


def test_workers_waits_are_blocked_time(windows):
    """What DBSP calls a wait is, to the kernel, a thread that is off its CPU."""
    ours = windows["long sleeper"].ours
    for worker in ours["dbprof"]["workers"]:
        parts, _ = books(worker)
        waited = reading(ours, worker["worker"], "n", WAIT)
        assert parts["blocked"] + parts["run_queue"] > 0.9 * waited


def test_short_waits_are_not_dropped(windows):
    """perf's threshold of 500 ms: every wait here is shorter than two milliseconds or so."""
    window = windows["long sleeper"]
    waits = breakdown(window.ours, 0, "n")
    assert waits["operator_pending"] > 0.5 * window.seconds * SECOND


class TestTargetEnds:
    """A target that exits during the window yields the profile up to then."""

    def run_to_its_end(self, lab, mode, status, pause=0):
        """Profiles a target that makes its steps and leaves: both profilers count the same steps."""
        target = lab.target("join", workers=2, steps=150, builtin=lab.path("b.json"))
        output = lab.path("ours.json")
        profiler = lab.profiler("--mode", mode, "--pid", target.pid, "-o", output)
        profiler.wait_attached()
        target.go()
        target.wait_done()
        time.sleep(pause)
        target.finish()
        assert profiler.wait(60) == status, profiler.describe()
        ours, builtin = json.loads(output.read_text()), target.builtin_profile()
        assert ours["dbprof"]["target_exited"]
        for worker in workers(builtin):
            assert reading(ours, worker, "n", "steps_count") == reading(
                builtin, worker, "n", "steps_count"
            )
        return ours

    def test_with_its_counters(self, lab):
        """In engine mode all is known up to the last reading, and the status says that it ends there."""
        # Longer than from one reading to the next.
        ours = self.run_to_its_end(lab, "engine", INCOMPLETE, pause=0.5)
        assert ours["dbprof"]["lost"]["torn"] == 2

    def test_by_itself(self, lab):
        ours = self.run_to_its_end(lab, "waits", COMPLETE)
        assert window_nanos(ours) < 60 * SECOND

    @pytest.mark.parametrize("scenario", ["sleeper", "join", "nested", "spin"])
    def test_killed(self, lab, scenario):
        """In the middle of a step; a part may be missing then, and the status says so."""
        target = lab.target(scenario, workers=2, steps=100000, records=20)
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", target.pid, "-o", output)
        profiler.wait_attached()
        target.go()
        time.sleep(0.7)
        target.kill()
        status = profiler.wait(60)
        ours = json.loads(output.read_text())
        assert status == (COMPLETE if ours["dbprof"]["complete"] else INCOMPLETE)
        assert ours["dbprof"]["target_exited"]
        assert reading(ours, 0, "n", "steps_count") >= 2
        assert sum(breakdown(ours, 0, "n").values()) == reading(ours, 0, "n", WAIT)
        assert set(breakdown(ours, 0, "n")) == set(REASONS)
        for where, value in all_durations(ours):
            assert value <= 4 * window_nanos(ours), where


class TestLimits:
    """What does not fit into the tables is counted, and the exit status says so."""

    def test_threads(self, lab):
        target = lab.target("join", workers=2, steps=50)
        ours, profiler = lab.profile_steps(target, "--max-threads", "1", status=INCOMPLETE)
        about = ours["dbprof"]
        assert not about["complete"] and about["lost"]["threads"] > 0
        assert "not complete" in profiler.stdout

    def test_circuits(self, lab):
        target = lab.target("nested", workers=2, steps=5, records=10)
        ours, _ = lab.profile_steps(target, "--max-circuits", "1", status=INCOMPLETE)
        about = ours["dbprof"]
        assert not about["complete"] and about["lost"]["circuits"] > 0

    def test_many_threads_that_come_and_go(self, lab):
        """A thread for each step, thousands of them: their places are used again."""
        target = lab.target("sleeper", workers=1, steps=3000, builtin=lab.path("b.json"))
        ours, _ = lab.profile_steps(target, "--max-threads", "64")
        assert reading(ours, 0, "n", "steps_count") == 3000

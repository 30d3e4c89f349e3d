# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Attaching to all sorts of programs at all sorts of moments."""

import json
import random
import re
import statistics
import time

import pytest
from harness import COMPLETE, SANITIZED, TOP, target_path
from profiles import (
    MILLISECOND,
    SECOND,
    breakdown,
    circuits,
    graph_edges,
    graph_nodes,
    invocations,
    metadata,
    nanos,
    reading,
    window_nanos,
    workers,
)


def check_same_counts(ours, builtin):
    assert len(ours["worker_profiles"]) == len(builtin["worker_profiles"])
    assert graph_nodes(ours) == graph_nodes(builtin)
    assert graph_edges(ours) == graph_edges(builtin)
    for worker in workers(builtin):
        assert circuits(ours, worker) == circuits(builtin, worker)
        for circuit in circuits(builtin, worker):
            assert reading(ours, worker, circuit, "steps_count") == reading(
                builtin, worker, circuit, "steps_count"
            )
        assert invocations(ours, worker) == invocations(builtin, worker)


def check_books(ours):
    """All of the window is in a step, between two, or cut by an edge."""
    window = window_nanos(ours)
    for worker in workers(ours):
        parts = {
            name: reading(ours, worker, "n", f"circuit_{name}_seconds") or 0
            for name in ("runtime", "idle_time", "edge_idle")
        }
        assert abs(sum(parts.values()) - window) <= MILLISECOND, (worker, window, parts)


class TestCommand:
    """The profiler starts the program itself."""

    # The last one lives for a tenth of a second.
    RUNS = [("join", 500), ("nested", 60), ("sleeper", 700), ("join", 40)]

    @pytest.mark.parametrize("scenario, steps", RUNS)
    def test_from_the_first_step(self, lab, scenario, steps):
        """Workers do not exist yet; no step of theirs is missed."""
        builtin, output = lab.path("builtin.json"), lab.path("ours.json")
        process = lab.run(
            "-v", "--output", output, "--", target_path(), scenario,
            "--workers", 2, "--steps", steps, "--records", 30, "--builtin", builtin,
        )  # fmt: skip
        assert process.popen.returncode == COMPLETE, process.describe()
        ours = json.loads(output.read_text())
        assert f"{steps} steps in" in process.stderr
        check_same_counts(ours, json.loads(builtin.read_text()))
        assert ours["dbprof"]["target_exited"]

    def test_its_exit_does_not_matter(self, lab):
        """A program that fails after its steps has been profiled all the same."""
        output = lab.path("ours.json")
        process = lab.run(
            "-q", "-o", output, "--", target_path(), "sleeper", "--workers", 1,
            "--steps", 700, "--builtin", "/nonexistent/builtin.json",
        )  # fmt: skip
        assert process.popen.returncode == COMPLETE, process.describe()
        assert "No such file" in process.stderr
        assert reading(json.loads(output.read_text()), 0, "n", "steps_count") == 700

    def test_duration(self, lab):
        """The window ends; the program runs to its end before the profiler returns."""
        output = lab.path("ours.json")
        process = lab.run(
            "-q", "-d", "700ms", "-o", output, "--", target_path(), "sleeper",
            "--workers", 1, "--steps", 1500,
        )  # fmt: skip
        assert process.popen.returncode == COMPLETE, process.describe()
        assert "1500 steps in" in process.stderr
        ours = json.loads(output.read_text())
        assert 0.7 * SECOND <= window_nanos(ours) < 1.2 * SECOND
        assert 100 < reading(ours, 0, "n", "steps_count") < 1500

    def test_interrupt(self, lab):
        """Ctrl-C ends the window as it does with --pid."""
        output = lab.path("ours.json")
        profiler = lab.profiler(
            "-o", output, "--", target_path(), "sleeper", "--workers", 1, "--steps", 2000
        )
        profiler.wait_attached()
        time.sleep(1.5)
        assert profiler.stop() == COMPLETE, profiler.describe()
        assert reading(json.loads(output.read_text()), 0, "n", "steps_count") > 100

    def test_standard_streams_are_its_own(self, lab):
        """What the program prints and reads is its business."""
        profiler = lab.profiler(
            "-o", lab.path("ours.json"), "--", target_path(), "sleeper",
            "--workers", 1, "--steps", 700, "--hold",
        )  # fmt: skip
        profiler.expect("stdout", r"^ready \d+$", 60)
        profiler.say("\n")
        profiler.expect("stdout", r"^done$", 60)
        profiler.popen.stdin.close()
        assert profiler.wait(60) == COMPLETE, profiler.describe()
        ours = json.loads(lab.path("ours.json").read_text())
        assert reading(ours, 0, "n", "steps_count") == 700


class TestMoment:
    def test_in_the_middle_of_steps(self, lab):
        """Wherever the edges fall: complete, and the books are closed."""
        builtin = lab.path("builtin.json")
        target = lab.target("wide", workers=2, steps=60, operators=2000, builtin=builtin)
        target.go()
        time.sleep(0.3)
        ticks = random.Random(3)
        counted = []
        for number in range(6):
            output = lab.path(f"ours-{number}.json")
            length = f"{ticks.randrange(150, 400)}ms"
            process = lab.run("-q", "--pid", target.pid, "-d", length, "-o", output)
            assert process.popen.returncode == COMPLETE, process.describe()
            ours = json.loads(output.read_text())
            check_books(ours)
            counted.append(reading(ours, 0, "n", "steps_count"))
        target.wait_done()
        target.finish()
        assert 0 < sum(counted) < 60, counted

    def test_between_steps(self, windows):
        """As all tests with --hold do: attached before the first, ended after the last."""
        for name in ("join", "sharded", "nested"):
            check_books(windows[name].ours)

    def test_while_it_starts(self, lab):
        """Its circuit is built after the window begins: that worker is late, and complete."""
        for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.04):
            builtin = lab.path(f"builtin-{delay}.json")
            target = lab.target(
                "join", workers=2, steps=400, builtin=builtin, hold=False
            )
            time.sleep(delay)
            output = lab.path(f"ours-{delay}.json")
            profiler = lab.profiler("--mode", "waits", "--pid", target.pid, "--output", output)
            assert profiler.wait(60) == COMPLETE, profiler.describe()
            target.wait(60)
            ours = json.loads(output.read_text())
            assert graph_nodes(ours) == graph_nodes(target.builtin_profile())
            for worker in workers(ours):
                assert reading(ours, worker, "n", "steps_count") > 0


class TestSeveral:
    def test_two_at_once(self, lab):
        """Each with its own steps, graph and file."""
        first = lab.target("join", workers=2, steps=150, builtin=lab.path("b1.json"))
        second = lab.target(
            "nested", workers=1, steps=30, records=20, builtin=lab.path("b2.json")
        )
        profiler = lab.profiler(
            "--pid", first.pid, "--pid", second.pid, "-o", lab.path("ours.json")
        )
        assert set(profiler.wait_attached(2)) == {first.pid, second.pid}
        for target in (first, second):
            target.go()
        for target in (first, second):
            target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        for target in (first, second):
            target.finish()
            ours = json.loads(lab.path(f"ours-{target.pid}.json").read_text())
            check_same_counts(ours, target.builtin_profile())

    def test_one_ends_early(self, lab):
        """The other's window goes on."""
        first = lab.target("sleeper", workers=1, steps=50)
        second = lab.target("sleeper", workers=1, steps=400)
        profiler = lab.profiler(
            "--pid", first.pid, "--pid", second.pid, "-o", lab.path("ours.json")
        )
        profiler.wait_attached(2)
        for target in (first, second):
            target.go()
        first.wait_done()
        first.finish()
        second.wait_done()
        assert profiler.alive()
        assert profiler.stop() == COMPLETE, profiler.describe()
        for target, steps in ((first, 50), (second, 400)):
            ours = json.loads(lab.path(f"ours-{target.pid}.json").read_text())
            assert reading(ours, 0, "n", "steps_count") == steps

    def test_two_profilers(self, lab):
        """Two users look at one program at the same time."""
        target = lab.target("join", workers=2, steps=100, builtin=lab.path("b.json"))
        outputs = [lab.path("one.json"), lab.path("two.json")]
        profilers = [lab.profiler("--pid", target.pid, "-o", output) for output in outputs]
        for profiler in profilers:
            profiler.wait_attached()
        target.go()
        target.wait_done()
        for profiler in profilers:
            assert profiler.stop() == COMPLETE, profiler.describe()
        target.finish()
        for output in outputs:
            check_same_counts(json.loads(output.read_text()), target.builtin_profile())


class TestBuilds:
    def test_fixed_address(self, lab, nopie_target):
        """An executable that is not position-independent."""
        image = nopie_target.read_bytes()
        assert image[16:18] == b"\x02\x00", "ET_EXEC is wanted"
        window = lab.both("join", workers=2, steps=100, target_program=nopie_target)
        assert window.status == COMPLETE
        check_same_counts(window.ours, window.builtin)
        assert breakdown(window.ours, 0, "n")["unattributed"] == 0

    def test_position_independent(self):
        """The other tests profile the other kind."""
        assert target_path().read_bytes()[16:18] == b"\x03\x00", "ET_DYN is wanted"

    def test_replaced_file(self, lab):
        """A deployment replaces the file of a program that goes on running."""
        program = lab.path("deployed")
        program.write_bytes(target_path().read_bytes())
        program.chmod(0o755)
        target = lab.target(
            "join", workers=2, steps=100, builtin=lab.path("b.json"), program=program
        )
        program.unlink()
        program.write_text("another version")
        ours, _ = lab.profile_steps(target)
        target.finish()
        check_same_counts(ours, target.builtin_profile())

    @pytest.mark.seconds(200)
    @pytest.mark.parametrize("scenario", ["join", "nested"])
    def test_sanitized(self, lab, scenario):
        """The whole way through under the sanitizers."""
        window = lab.both(scenario, workers=2, steps=40, records=30, program=SANITIZED)
        assert window.status == COMPLETE, window.profiler.describe()
        check_same_counts(window.ours, window.builtin)


def test_time_to_first_data(lab):
    """Under 250 ms, on a program of some 15 MB without debug info."""
    assert 10e6 < target_path().stat().st_size < 30e6
    target = lab.target("join", workers=2)
    took = []
    for number in range(5):
        began = time.monotonic()
        profiler = lab.profiler("--pid", target.pid, "-o", lab.path(f"{number}.json"))
        said = profiler.wait_attached()[target.pid]
        elapsed = 1000 * (time.monotonic() - began)
        assert 1 < said <= elapsed + 1, "it says less than it takes"
        took.append(elapsed)
        assert profiler.stop() == COMPLETE
    assert statistics.median(took) < 250, took


def test_about(windows):
    """The key `dbprof` says how the profile was taken."""
    window = windows["join"]
    about = window.ours["dbprof"]
    [version] = re.findall(r"^VERSION := (\S+)$", (TOP / "Makefile").read_text(), re.M)
    assert about["version"] == version
    assert about["executable"] == str(target_path())
    assert about["dbsp"] == "0.354.0" and about["rustc"][0].isdigit()
    assert about["kernel"] and about["host"] and about["mode"]
    assert len(about["build_id"] or "") in (0, 40)
    assert nanos(about["window"]["length"]) > window.seconds * SECOND
    assert about["lost"] and not any(about["lost"].values())
    assert [worker["worker"] for worker in about["workers"]] == [0, 1]
    assert not any(worker["late"] for worker in about["workers"])
    assert set(metadata(window.ours, 0)) == set(metadata(window.ours, 1))

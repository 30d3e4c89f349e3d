# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Programs and profilers in containers: nested PID namespaces, roots of their own, overlays, user
namespaces, and binaries that are gone.
"""

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import LONG
from containers import Container, Host, only_child, thread_numbers
from harness import COMPLETE, FAILED, Window, target_path
from kernel import changed_code
from profiles import all_threads, breakdown, reading
from refusal import check_sentence
from test_attach import check_books, check_same_counts
from test_books import check_thread
from test_parity import METRICS, compare

# How deep the profiler's PID namespace is, and the program's; how it is measured.
NESTED = [
    (0, 1, "engine"),
    (0, 3, "sampled"),
    (1, 1, "exact"),
    (1, 1, "sampled"),
    (1, 2, "waits"),
    (2, 4, "engine"),
    (2, 4, "sampled"),
]
# Where parity is shown; DBPROF_THOROUGH=1 adds the other scenarios.
STEPS = {"join": 2500, "nested": 140, "spine": 20000, "sharded": 18000, "sleeper": 4500}
PARITY = [("nested", "engine"), ("join", "waits")]
if os.environ.get("DBPROF_THOROUGH") == "1":
    PARITY = [(scenario, mode) for scenario in STEPS for mode in ("engine", "waits")]


def both(lab, profiling, running, scenario, *arguments, program=None, **options):
    """The same window for both profilers; ours runs in one container, the program in another."""
    builtin, output = lab.path(f"builtin-{len(lab.started)}.json"), lab.path("ours.json")
    target = running.target(scenario, builtin=builtin, program=program, **options)
    profiler = profiling.profiler(
        "--pid", profiling.inner(target.host_pid), "-o", output, *arguments
    )
    profiler.wait_attached()
    target.go()
    seconds = target.wait_done()
    threads = thread_numbers(target.host_pid, profiling.depth)
    assert profiler.stop() == COMPLETE, profiler.describe()
    target.finish()
    ours = json.loads(output.read_text())
    check_ids(ours, threads)
    return Window(ours, target.builtin_profile(), COMPLETE, seconds, profiler, ())


def check_ids(ours, threads):
    """Threads bear the numbers that the profiler's own tools show for them."""
    found = {w["tid"]: f"dbsp-worker-{w['worker']}" for w in ours["dbprof"]["workers"]}
    found |= {t["tid"]: t["name"] for t in ours["threads"] if "exited" not in t}
    there = {tid: name for tid, name in threads.items() if name.startswith(("dbsp-", "merger-"))}
    assert len(there) >= 2 and there.items() <= found.items()


def check_window(window):
    """Steps, evaluations, the graph, and closed books."""
    check_same_counts(window.ours, window.builtin)
    check_books(window.ours)
    for thread in all_threads(window.ours):
        check_thread(thread, "in a container")


def pair(lab, profiling, running):
    """Where the profiler and the program run: the program's place lies in the other one, or is it."""
    outer = Container(lab, profiling) if profiling else Host(lab)
    return outer, Container(lab, running - profiling, within=outer) if running > profiling else outer


class TestPidNamespaces:
    @pytest.mark.parametrize("profiling, running, mode", NESTED)
    def test_depths(self, lab, profiling, running, mode):
        """A profiler sees programs of its own PID namespace and of those in it, at any depth."""
        outer, inner = pair(lab, profiling, running)
        options = dict(workers=2, steps=40, records=20)
        scenario = "join" if mode == "sampled" else "nested"
        check_window(both(lab, outer, inner, scenario, "--mode", mode, **options))

    def test_perf_uprobes(self, lab):
        """Which are hit in all processes of the file: those of others are told by their ids."""
        outer, inner = pair(lab, 1, 2)
        other = outer.target("sleeper", workers=1, steps=100000)
        other.go()
        options = dict(workers=2, steps=60)
        arguments = ["--mode", "waits", "--uprobes", "perf"]
        check_window(both(lab, outer, inner, "join", *arguments, **options))

    def test_started_by_the_profiler(self, lab):
        output, builtin = lab.path("ours.json"), lab.path("b.json")
        process = Container(lab, 2).run(
            "-q", "-o", output, "--", target_path(), "join",
            "--workers", 2, "--steps", 40, "--builtin", builtin,
        )  # fmt: skip
        assert process.popen.returncode == COMPLETE, process.describe()
        check_same_counts(json.loads(output.read_text()), json.loads(builtin.read_text()))

    def test_the_host_is_not_seen(self, lab, idle):
        """A number that the host gives means nobody in here, or another process."""
        box, output = Container(lab), lab.path("none.json")
        process = box.run("--pid", idle.pid, "-d", "100ms", "-o", output)
        assert process.popen.returncode == FAILED and not output.exists()
        [sentence] = process.lines["stderr"]
        check_sentence(sentence, [idle.pid, "no process"])

    def test_proc_of_another_namespace(self, refused, idle):
        """Its numbers are not those that the system calls take."""
        refused("--pid", idle.pid, prefix=["unshare", "--pid", "--fork"], says=["/proc", "mount"])


class TestUserNamespaces:
    def test_program(self, lab):
        """Root in there is nobody on the host."""
        inner = Container(lab, user=True)
        window = both(lab, Host(lab), inner, "join", "--mode", "sampled", workers=2, steps=60)
        check_window(window)

    def test_profiler(self, refused, idle):
        """The kernel lets nobody load BPF programs there, whatever capabilities it shows."""
        prefix = ["unshare", "--user", "--map-root-user"]
        refused("--pid", idle.pid, prefix=prefix, says=["user namespace", "host"])


class TestTimeNamespaces:
    PREFIX = ["unshare", "--time", "--monotonic", "1000", "--boottime", "2000", "--fork"]

    def test_program(self, lab, refused):
        """What its clock says cannot be compared with ours."""
        target = lab.target("idle", workers=1, prefix=[*self.PREFIX, "--kill-child"])
        refused("--pid", only_child(target.pid), says=["time namespace"])

    def test_profiler(self, refused, idle):
        refused("--pid", idle.pid, prefix=self.PREFIX, says=["time namespace"])

    def test_boottime_alone(self, lab):
        """As on a machine that was suspended: a program never reads that clock."""
        prefix = ["unshare", "--time", "--boottime", "2000", "--fork", "--kill-child"]
        target = lab.target("sleeper", workers=1, steps=200, prefix=prefix)
        output = lab.path("ours.json")
        profiler = lab.profiler("--pid", only_child(target.pid), "-o", output)
        profiler.wait_attached()
        target.go()
        target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        assert reading(json.loads(output.read_text()), 0, "n", "steps_count") == 200


class TestRoots:
    """Roots of their own, on a file system of layers."""

    @pytest.fixture
    def box(self, lab):
        return Container(lab, overlay=True)

    @pytest.fixture
    def copied(self, box):
        """The program in the upper layer, which the host sees nowhere."""
        shutil.copy(target_path(), box.root / "opt/pipeline")
        assert not Path("/opt/pipeline").exists()
        return "/opt/pipeline"

    @pytest.mark.parametrize("mode", ["engine", "sampled"])
    def test_from_outside(self, lab, box, copied, mode):
        options = dict(program=copied, workers=2, steps=60)
        window = both(lab, Host(lab), box, "join", "--mode", mode, **options)
        check_window(window)
        assert window.ours["dbprof"]["executable"].endswith(copied)

    @pytest.mark.parametrize("uprobes", ["multi", "perf"])
    def test_from_inside(self, lab, box, copied, uprobes):
        options = dict(program=copied, workers=2, steps=40, records=20)
        arguments = ["--mode", "waits", "--uprobes", uprobes]
        check_window(both(lab, box, box, "nested", *arguments, **options))

    def test_deleted(self, lab, box, copied):
        """The file is gone from the upper layer, and another one is in its place."""
        builtin, output = lab.path("b.json"), lab.path("ours.json")
        target = box.target("join", program=copied, workers=2, steps=60, builtin=builtin)
        (box.root / "opt/pipeline").unlink()
        (box.root / "opt/pipeline").write_text("another version")
        profiler = lab.profiler("--pid", target.host_pid, "-o", output, "--mode", "waits")
        profiler.wait_attached()
        target.go()
        target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        target.finish()
        ours = json.loads(output.read_text())
        check_same_counts(ours, target.builtin_profile())
        assert ours["dbprof"]["executable"].endswith(f"{copied} (deleted)")

    @pytest.mark.seconds(300)
    @pytest.mark.parametrize("scenario, mode", PARITY)
    def test_parity(self, lab, scenario, mode):
        """Times equal the built-in profiler's, as on the host, two namespaces and a root deeper."""
        outer = Container(lab)
        inner = Container(lab, within=outer, overlay=True)
        steps = STEPS[scenario]
        for _ in range(4):
            window = both(lab, outer, inner, scenario, "--mode", mode, workers=2, steps=steps)
            if window.seconds >= LONG:
                break
            steps = int(steps * 1.3 * LONG / window.seconds) + 1
        assert window.seconds >= LONG
        check_window(window)
        faults = compare(window, breakdown)
        for metric in METRICS:
            faults += compare(window, lambda *where: {metric: reading(*where, metric)})
        assert not faults, "\n" + "\n".join(faults)


class TestSeveralOfOneFile:
    @pytest.mark.parametrize("uprobes", ["multi", "perf"])
    def test_one_is_profiled(self, lab, uprobes):
        """The others work on, in a container and beside it, and are counted nowhere."""
        others = [
            lab.target("join", workers=2, steps=10**6),
            Container(lab).target("nested", workers=1, steps=10**6),
        ]
        for other in others:
            other.go()
        builtin = lab.path("b.json")
        target = lab.target("join", workers=2, steps=60, builtin=builtin)
        output = lab.path("ours.json")
        profiler = lab.profiler(
            "--pid", target.pid, "-o", output, "--mode", "waits", "--uprobes", uprobes
        )
        profiler.wait_attached()
        if uprobes == "multi":
            assert changed_code(target.pid)
            assert [changed_code(other.host_pid) for other in others[1:]] == [[]]
            assert changed_code(others[0].pid) == []
        target.go()
        target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        target.finish()
        ours = json.loads(output.read_text())
        check_same_counts(ours, target.builtin_profile())
        seen = {thread["tid"] for thread in ours["threads"] if "exited" not in thread}
        seen |= {worker["tid"] for worker in ours["dbprof"]["workers"]}
        assert seen and all(other.alive() for other in others)
        for other in [others[0].pid, others[1].host_pid]:
            assert not seen & {int(tid) for tid in os.listdir(f"/proc/{other}/task")}

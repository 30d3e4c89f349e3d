# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
A series of windows without a gap: whatever is measured adds up over them, to the nanosecond, to the
profile of the whole, and the engine's own counts of steps say the same.
"""

import json
import os
import re
from collections import Counter

import pytest
from harness import COMPLETE, INCOMPLETE, USAGE, Lab
from profiles import (
    all_threads,
    books,
    circuits,
    metadata,
    nanos,
    reading,
    split,
    value_of,
    window_nanos,
    workers,
)

# Of one moment, of the busiest worker, or shares of each other.
NOT_ADDITIVE = re.compile(
    "circuit_open_|circuit_runtime_elapsed|_percent$|circuit_idle_time|circuit_edge_idle"
)
# These rest on samples, of which each window has its own.
ESTIMATES = re.compile(
    "runtime_seconds$|runtime_interval|engine_timing|cpu_seconds$|unobserved_seconds$"
)
SCENARIOS = {
    "engine": ("join", dict(workers=2, builtin=True)),
    "sampled": ("join", dict(workers=2)),
    "exact": ("nested", dict(workers=2, records=20)),
    # A thread starts and exits in each step.
    "waits": ("sleeper", dict(workers=2)),
}


class Series:
    """All windows of one run, and the whole."""

    def __init__(self, folder, name="x"):
        self.whole = json.loads((folder / f"{name}.json").read_text())
        pattern = re.compile(rf"{name}-(\d{{4}})\.json")
        found = sorted(m[0] for m in map(pattern.fullmatch, os.listdir(folder)) if m)
        self.names = found
        self.windows = [json.loads((folder / name).read_text()) for name in found]


@pytest.fixture(scope="module", params=SCENARIOS)
def series(request, _built, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp(request.param))
    scenario, options = SCENARIOS[request.param]
    options = dict(options)
    if options.pop("builtin", None):
        options["builtin"] = lab.path("builtin.json")
    target = lab.target(scenario, steps=10**6, **options)
    target.go()
    process = lab.run(
        "--pid", target.pid, "--interval", "150ms", "-d", "1500ms", "--mode", request.param,
        "-o", lab.path("x.json"),
    )  # fmt: skip
    assert process.popen.returncode == COMPLETE, process.describe()
    taken = Series(lab.folder)
    taken.mode, taken.process = request.param, process
    yield taken
    lab.close()


def numbers(profile, sampled):
    """Everything of a profile that adds up, by name."""
    found = Counter()
    for worker in workers(profile):
        for node, meta in metadata(profile, worker).items():
            for entry in meta:
                metric, value = entry["metric_id"], value_of(entry)
                if NOT_ADDITIVE.search(metric) or not isinstance(value, int):
                    continue
                if sampled and node != "n" and ESTIMATES.search(metric):
                    continue
                if sampled and re.search("engine_timing|_cpu_seconds$", metric):
                    continue
                found[worker, node, metric, str(entry.get("labels"))] += value
            for name in ("circuit_idle_time_seconds", "circuit_edge_idle_seconds"):
                found[worker, node, "idle"] += reading(profile, worker, node, name) or 0
    for thread in profile["dbprof"]["workers"]:
        add_thread(found, thread["worker"], thread)
    # Those that exit in one window lived in others, too.
    for thread in profile["threads"]:
        add_thread(found, "others", thread)
    for name, value in profile["dbprof"]["lost"].items():
        if name not in ("torn", "workers", "unresolved", "probes"):
            found["lost", name] += value
    cost = profile["dbprof"]["cost"]
    for name in ("program", "own_cpu", "target_cpu"):
        found["cost", name] += nanos(cost[name]) if cost[name] else 0
    found["traps"] += cost["traps"]
    found["length"] += window_nanos(profile)
    return +found


def add_thread(found, who, thread):
    parts, observed = books(thread)
    for name, value in {**parts, "observed": observed, **split(thread["woken_by"])}.items():
        found["thread", who, name] += value


def test_adds_up(series):
    sampled = series.mode == "sampled"
    total = Counter()
    for window in series.windows:
        total.update(numbers(window, sampled))
    whole = numbers(series.whole, sampled)
    assert len(whole) > 60
    differ = {key: (total[key], whole[key]) for key in total | whole if total[key] != whole[key]}
    assert not differ


def test_adjacent(series):
    """Numbered from 1; each begins where the last one ended, and the whole spans them."""
    count = len(series.windows)
    assert count >= 3 and series.names == [f"x-{i:04}.json" for i in range(1, count + 1)]
    spans = [
        (window["dbprof"]["window"]["start_monotonic_nanos"], window_nanos(window))
        for window in [*series.windows, series.whole]
    ]
    whole = spans.pop()
    for (start, length), (following, _) in zip(spans, spans[1:]):
        assert start + length == following
    assert spans[0][0] == whole[0] and sum(spans[-1]) == sum(whole)
    # An edge that was missed on a busy machine makes one window of several intervals.
    assert all(length >= 100_000_000 for _, length in spans[:-1])


def test_each_is_a_profile_of_its_own(series):
    """Books closed, steps and pauses fill the window, the same mode and process in all."""
    for window in [*series.windows, series.whole]:
        assert window["dbprof"]["mode"] == series.mode and window["dbprof"]["complete"]
        length = window_nanos(window)
        for thread in all_threads(window):
            parts, observed = books(thread)
            assert sum(parts.values()) == observed
        for worker in workers(window):
            assert nanos(window["dbprof"]["workers"][worker]["observed"]) == length
            names = ("runtime", "idle_time", "edge_idle")
            filled = sum(
                reading(window, worker, "n", f"circuit_{name}_seconds") or 0 for name in names
            )
            assert abs(filled - length) <= 1_000_000
            for circuit in circuits(window, worker):
                waited = reading(window, worker, circuit, "circuit_wait_time_seconds")
                assert waited <= reading(window, worker, circuit, "circuit_runtime_seconds")


def test_steps_in_every_window(series):
    """Nothing is lost at the edges: a pipeline that never rests steps in every window."""
    for worker in workers(series.whole):
        steps = [reading(w, worker, "n", "steps_count") or 0 for w in series.windows]
        assert sum(steps) == reading(series.whole, worker, "n", "steps_count") > len(steps)


def test_lines(series):
    """One line for each window, then the summary of all."""
    lines = series.process.lines["stdout"]
    assert re.search("window +length +steps +a step +CPU +longest wait", lines[0])
    for number, window in enumerate(series.windows, start=1):
        words = lines[number].split()
        assert words[0] == str(number)
        steps = max(reading(window, w, "n", "steps_count") or 0 for w in workers(window))
        assert words[3] == str(steps)
    assert re.match("dbsp-target, pid", lines[len(series.windows) + 1])
    assert f"and its {len(series.windows)} windows beside it" in lines[-1]


def test_the_engine_says_the_same(lab):
    """All steps of a pipeline, over windows, against DBSP's own profile of them."""
    for mode in ("engine", "sampled"):
        builtin = lab.path(f"builtin-{mode}.json")
        target = lab.target("join", workers=2, steps=200, builtin=builtin)
        folder = lab.path(mode)
        folder.mkdir()
        profiler = lab.profiler(
            "--pid", target.pid, "--interval", "50ms", "--mode", mode, "-o", folder / "x.json"
        )
        profiler.wait_attached()
        target.go()
        target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        target.finish()
        taken, own = Series(folder), target.builtin_profile()
        assert len(taken.windows) > 2
        for worker in workers(own):
            for node in metadata(own, worker):
                for metric in ("steps_count", "invocations_count"):
                    wanted = reading(own, worker, node, metric)
                    if not wanted:
                        continue
                    found = [
                        reading(w, worker, node, metric) or 0
                        for w in taken.windows
                        if node in metadata(w, worker)
                    ]
                    assert sum(found) == wanted, (mode, worker, node, metric, found)


def test_several_processes(lab):
    """Each has a series of its own, with the same edges."""
    targets = [lab.target("join", workers=1, steps=10**6) for _ in range(2)]
    for target in targets:
        target.go()
    pids = [word for target in targets for word in ("--pid", target.pid)]
    process = lab.run(*pids, "--interval", "200ms", "-d", "700ms", "-o", lab.path("x.json"))
    assert process.popen.returncode == COMPLETE, process.describe()
    first, second = (Series(lab.folder, f"x-{target.pid}") for target in targets)
    assert first.names and len(first.names) == len(second.names)
    for left, right in zip(first.windows, second.windows):
        assert left["dbprof"]["window"]["length"] == right["dbprof"]["window"]["length"]
    assert str(targets[0].pid) in process.lines["stdout"][1]


def test_one_ends_before(lab):
    """Its series ends with it; the other's goes on."""
    short, long = (lab.target("join", workers=1, steps=10**6) for _ in range(2))
    for target in (short, long):
        target.go()
    profiler = lab.profiler(
        "--pid", short.pid, "--pid", long.pid, "--interval", "100ms", "--mode", "waits",
        "-o", lab.path("x.json"),
    )  # fmt: skip
    profiler.expect("stdout", rf"^ *{long.pid} +2 ", 30)
    short.kill()
    reached = len(profiler.lines["stdout"])
    profiler.expect("stdout", rf"^ *{long.pid} +{reached + 3} ", 30)
    assert profiler.stop() in (COMPLETE, INCOMPLETE), profiler.describe()
    ended, other = (Series(lab.folder, f"x-{target.pid}") for target in (short, long))
    assert 2 <= len(ended.windows) < len(other.windows)
    exited = [window["dbprof"]["target_exited"] for window in ended.windows]
    assert exited == [False] * (len(exited) - 1) + [True]
    assert sum(map(window_nanos, ended.windows)) == window_nanos(ended.whole)


def test_memory_does_not_grow(lab):
    """Over hundreds of intervals, while threads come and go."""
    target = lab.target("sleeper", workers=1, steps=10**6)
    target.go()
    profiler = lab.profiler(
        "--pid", target.pid, "--interval", "20ms", "--mode", "waits", "--format", "snapshot",
        "-o", lab.path("x.dbprof"),
    )  # fmt: skip

    def used():
        with open(f"/proc/{profiler.pid}/status") as status:
            [line] = [line for line in status if line.startswith("VmRSS")]
        return int(line.split()[1])

    profiler.expect("stdout", "^ +50 ", 60)
    before = used()
    profiler.expect("stdout", "^ +250 ", 60)
    after = used()
    assert profiler.stop() in (COMPLETE, INCOMPLETE), profiler.describe()
    assert after < before + 2000, (before, after)


def test_snapshots_of_a_series(lab, idle):
    """Each window can be kept as a snapshot, and two of them compared."""
    output = lab.path("x.dbprof")
    arguments = ["--interval", "200ms", "-d", "500ms", "--format", "snapshot", "-o", output]
    process = lab.run("--pid", idle.pid, *arguments)
    assert process.popen.returncode == COMPLETE, process.describe()
    paths = [lab.path("x-0001.dbprof"), lab.path("x-0002.dbprof")]
    assert lab.run("diff", *paths).popen.returncode == COMPLETE
    # The summary of the whole is what was printed behind the lines of the windows.
    report = lab.run("report", output).stdout
    assert report and report in process.stdout


def test_usage(lab, idle):
    for arguments in (["--interval", "1ms"], ["--interval", "x"], ["--interval", "1s", "-o", "-"]):
        process = lab.run("--pid", idle.pid, *arguments)
        assert process.popen.returncode == USAGE, process.describe()


def test_unwritable_is_found_before_the_window(refused, idle):
    place = "/nonexistent/x.json"
    refused("--pid", idle.pid, "--interval", "1s", "-o", place, says=["/nonexistent"])


def test_disk_full_in_the_middle(lab, idle):
    """Windows that were written stay; that others could not be is said, and is the exit status."""
    folder = lab.path("out")
    folder.mkdir()
    profiler = lab.profiler(
        "--pid", idle.pid, "--interval", "100ms", "-d", "60s", "-o", folder / "x.json"
    )
    profiler.expect("stdout", "^ +2 ", 30)
    folder.rename(lab.path("moved"))
    profiler.expect("stderr", "cannot be written|cannot write", 30)
    lab.path("moved").rename(folder)
    count = len(os.listdir(folder))
    profiler.expect("stdout", f"^ +{count + 3} ", 30)
    assert profiler.stop() == INCOMPLETE, profiler.describe()
    for name in os.listdir(folder):
        assert json.loads((folder / name).read_text())["dbprof"]["pid"] == idle.pid
    assert (folder / "x-0002.json").exists()

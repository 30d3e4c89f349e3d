# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`report` of profiles: metrics, totals and the overview."""

import json

import pytest
from harness import COMPLETE
from profile_files import (
    as_json,
    check_refused,
    graph_of,
    profile_of,
    reading,
    run,
    seconds,
    small_profile,
    typed,
)
from profiles import metadata, nanos, workers


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "slow.json"

    def run_report(profile, *arguments):
        path.write_bytes(as_json(profile))
        return run("report", path, *arguments)

    return run_report


def lines_of(done):
    assert done.returncode == COMPLETE, done.stderr
    return [line.split() for line in done.stdout.decode().splitlines()]


def json_of(done):
    assert done.returncode == COMPLETE, done.stderr
    return json.loads(done.stdout)


def test_metric(report):
    title, *found = lines_of(report(small_profile(), "--metric", "runtime_seconds"))
    assert title == ["worker", "node", "value", "operator"]
    assert found == [
        ["0", "nn1", "1.5s", "operator", "nn1"],
        ["1", "nn0", "1.5s", "operator", "nn0"],
    ]
    done = report(small_profile(), "--metric", "runtime_seconds", "--worker", "1")
    assert lines_of(done)[1:] == found[1:]
    done = report(small_profile(), "--metric", "runtime_seconds", "--node", "nn1")
    assert lines_of(done)[1:] == found[:1]


def test_metric_with_labels(report):
    found = lines_of(report(small_profile(), "--metric", "loose_batches_count"))[1:3]
    assert [line[2:4] for line in found] == [["3", "[slot=0]"], ["4", "[slot=1]"]]


def test_metric_as_json(report):
    profile = small_profile()
    found = json_of(report(profile, "--metric", "loose_batches_count", "--json"))
    wanted = [
        {"worker": worker, "node": node, **made}
        for worker in workers(profile)
        for node, meta in metadata(profile, worker).items()
        for made in meta
        if made["metric_id"] == "loose_batches_count"
    ]
    assert found == wanted and len(found) == 4


def test_metric_as_bytes(report):
    """Readings without labels, all of them bytes, or none at all."""
    arguments = ["--metric", "x", "--as", "bytes"]
    profile = of_counts(5, 6, kind="bytes", metric="x")
    profile["worker_profiles"][0]["metadata"]["nn0"].append(reading("x", typed("int", 1), slot="0"))
    assert [line[2:4] for line in lines_of(report(profile, *arguments))[1:]] == [["5", "B"], ["6", "B"]]
    profile["worker_profiles"][0]["metadata"]["nn1"][0]["value"] = typed("count", 7)
    for json_option in ([], ["--json"]):
        check_refused(report(profile, *arguments, *json_option), "bytes", "nn1", "a count, 7")


def test_node(report):
    """All readings of a node, as the engine prints them."""
    done = report(small_profile(), "--node", "nn1")
    texts = [line.split(None, 2)[2] for line in done.stdout.decode().splitlines()[1:]]
    assert texts == [
        "{max: 5 B, used: 1}  foreground_cache_occupancy",
        "[1, b]  key_distribution",
        "3  loose_batches_count  [slot=0]",
        "4  loose_batches_count  [slot=1]",
        "33.33%  nonblocking_percent",
        'quoted " \\ ? \u00e9 \U0001f600   persistent_id',
        "true  rebalancing_in_progress_bool",
        "1.5s  runtime_seconds",
        "2.00 KiB  used_memory_bytes",
        "2 (4 B) over 0.0 s (4 ns/op)  x_hits",
    ]


def test_nothing_found(report):
    check_refused(report(small_profile(), "--metric", "no_such_count"), "no_such_count")
    check_refused(report(small_profile(), "--metric", "no_such_count", "--json"), "no_such_count")
    check_refused(report(small_profile(), "--node", "nn4"), "nn4")
    check_refused(report(small_profile(), "--worker", "2"), "from 0 to 1")
    check_refused(report(profile_of(graph=None), "--worker", "0"), "no worker")


def of_counts(*numbers, kind="count", metric="x_count"):
    nodes = {f"nn{i}": [reading(metric, typed(kind, n))] for i, n in enumerate(numbers)}
    return profile_of(nodes, graph=graph_of(*nodes))


def test_total_of_bytes(report):
    profile = small_profile()
    done = report(profile, "--total", "used_memory_bytes", "--as", "bytes")
    text = done.stdout.decode()
    assert text == (
        "used_memory_bytes: 6144 (6.00 KiB), the sum of 3 readings; 2048 of it in the root, "
        "which is the sum of its nodes\n"
    )
    assert report(profile, "--used-bytes").stdout == done.stdout
    assert report(profile, "--total", "used_memory_bytes").stdout == done.stdout
    assert json_of(report(profile, "--used-bytes", "--worker", "1", "--json")) == {
        "metric_id": "used_memory_bytes",
        "type": "bytes",
        "total": 2048,
        "root": 0,
        "readings": 1,
        "text": "2.00 KiB",
    }


def test_storage_size(report):
    profile = of_counts(3 << 20, 1 << 20, kind="bytes", metric="spine_storage_size_bytes")
    done = report(profile, "--storage-size")
    assert done.stdout == b"spine_storage_size_bytes: 4194304 (4.00 MiB), the sum of 2 readings\n"


def test_total_of_counts(report):
    """Readings with labels are counts of the same metric; bytes have none."""
    profile = small_profile()
    assert json_of(report(profile, "--total", "loose_batches_count", "--json"))["total"] == 14
    done = report(profile, "--total", "loose_batches_count", "--as", "bytes", "--json")
    assert json_of(done)["readings"] == 0
    profile = of_counts(2**64 - 1, 3)
    assert json_of(report(profile, "--total", "x_count", "--json"))["total"] == 2


@pytest.mark.parametrize(
    "value,kind,says",
    [
        (typed("int", 1234), "bytes", ["bytes", "plain number", "1,234"]),
        (typed("int", 1234), "count", ["count", "plain number", "1,234"]),
        (typed("bytes", 2048), "count", ["a number of bytes", "2.00 KiB"]),
        (seconds(1_500_000), "bytes", ["a duration", "1.5ms"]),
        (typed("string", "far off"), "count", ["a text", "far off"]),
        ({"max": typed("bytes", 5)}, "bytes", ["a map", "{max: 5 B}"]),
        (typed("percent", {"numerator": 1, "denominator": 3}), "count", ["33.33%"]),
    ],
)
def test_total_of_another_kind(report, value, kind, says):
    """The engine fails with the value; ours names it and its node."""
    profile = of_counts(1, 2)
    profile["worker_profiles"].append({"metadata": {"nn1": [reading("y", value)]}})
    done = report(profile, "--total", "y", "--as", kind)
    check_refused(done, "y is no metric of", "nn1", "worker 1", *says)


def overview_profile():
    waits = [
        reading("circuit_runtime_seconds", seconds(4_000_000_000)),
        reading("circuit_cpu_time_seconds", seconds(1_000_000_000)),
        reading("circuit_wait_time_seconds", seconds(2_000_000_000)),
        reading("circuit_idle_time_seconds", seconds(500_000_000)),
        reading("circuit_wait_by_reason_seconds", seconds(1_500_000_000), reason="peers"),
        reading("circuit_wait_by_reason_seconds", seconds(500_000_000), reason="network"),
        reading("circuit_wait_by_reason_seconds", seconds(0), reason="scheduler"),
        reading("steps_count", typed("int", 7)),
    ]
    nodes = {
        f"nn{i}": [
            reading("invocations_count", typed("count", 10)),
            reading("runtime_seconds", seconds((i + 1) * 1_000_000)),
        ]
        for i in range(12)
    }
    worker = {"n": waits, **nodes}
    return profile_of(worker, worker, graph=graph_of(*nodes), dbprof={"dbsp": "0.354.0", "pid": 7})


def test_overview(report):
    text = report(overview_profile()).stdout.decode()
    lines = [line.split() for line in text.splitlines()]
    assert text.startswith("2 workers, 13 nodes with readings, dbsp 0.354.0, pid 7\n")
    assert ["n", "7", "8.00", "s", "25", "%", "50", "%", "1.00", "s", "root"] in lines
    assert ["peers", "3.00", "s", "75", "%"] in lines
    assert ["network", "1.00", "s", "25", "%"] in lines
    assert "scheduler" not in text
    assert "The worst 10 of 12 operators" in text
    assert ["24.0", "ms", "15", "%", "20", "nn11", "operator", "nn11"] in lines
    assert "operator nn2\n" in text and "operator nn1\n" not in text
    one = report(overview_profile(), "--worker", "1").stdout.decode()
    assert "Only worker 1 is shown" in one and "4.00 s" in one


def test_overview_of_little(report):
    done = report(profile_of(graph=None))
    assert done.returncode == COMPLETE
    assert b"0 workers" in done.stdout and b"no graph" in done.stdout


def test_nothing_in_a_name_reaches_the_terminal(report):
    profile = overview_profile()
    profile["graph"]["nodes"]["nodes"][11]["Simple"]["label"] = "red \x1b[31m \u009b label"
    done = report(profile)
    assert b"red ?[31m ? label" in done.stdout


@pytest.mark.seconds(120)
def test_real_totals(windows):
    """Sums over all nodes and workers of DBSP's own profile, root included, as DBSP sums up."""
    window = windows["join"]
    profile, path = window.builtin, window.files[0]
    totals = {}
    for worker in workers(profile):
        for meta in metadata(profile, worker).values():
            for made in meta:
                value = made["value"]
                if value.get("type") in ("bytes", "count"):
                    key = made["metric_id"], value["type"]
                    totals[key] = totals.get(key, 0) + value["value"]
    assert ("used_memory_bytes", "bytes") in totals and len(totals) > 20
    for (metric, kind), wanted in totals.items():
        found = json_of(run("report", path, "--total", metric, "--as", kind, "--json"))
        assert found["total"] == wanted, metric


def test_real_overview(windows):
    window = windows["join"]
    text = run("report", window.files[0]).stdout.decode()
    runtimes = {}
    for worker in workers(window.builtin):
        for node, meta in metadata(window.builtin, worker).items():
            for made in meta:
                if made["metric_id"] == "runtime_seconds":
                    runtimes[node] = runtimes.get(node, 0) + nanos(made["value"]["value"])
    ranked = sorted(runtimes, key=lambda node: -runtimes[node])[:10]
    listed = [line.split() for line in text.split("operators by")[1].splitlines()[2:]]
    assert [line[5] for line in listed] == ranked

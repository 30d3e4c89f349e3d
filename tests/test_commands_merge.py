# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`merge`: the profiles of a pipeline's hosts as one."""

import json

import pytest
from harness import COMPLETE
from profile_files import as_json, check_refused, graph_of, profile_of, reading, run, typed


def host(number, workers, nodes=("nn0", "nn1"), **members):
    made = [
        {"nn0": [reading("x_count", typed("count", 100 * number + worker))], "n": []}
        for worker in range(workers)
    ]
    return profile_of(*made, graph=graph_of(*nodes), **members)


@pytest.fixture
def merge(tmp_path):
    """Merges profiles; returns the bytes of the outcome, or the process when it is refused."""

    def run_merge(*profiles, arguments=()):
        paths = []
        for number, profile in enumerate(profiles):
            paths.append(tmp_path / f"host{number}.json")
            paths[-1].write_bytes(as_json(profile))
        output = tmp_path / "merged.json"
        output.unlink(missing_ok=True)
        done = run("merge", *paths, "-o", output, *arguments)
        if done.returncode != COMPLETE:
            assert not output.exists()
            return done
        assert done.stdout == done.stderr == b""
        return output.read_bytes()

    return run_merge


def test_as_the_coordinator_does(merge):
    """ProfileJsonWriter: metrics and graph of the first, the workers of all."""
    metrics = [{"name": "x_count"}]
    parts = [host(0, 2, metrics=metrics), host(1, 1), host(2, 3)]
    workers = [worker for part in parts for worker in part["worker_profiles"]]
    wanted = {"metrics": metrics, "worker_profiles": workers, "graph": parts[0]["graph"]}
    assert merge(*parts) == as_json(wanted)


def test_profiles_without_graph(merge):
    part = profile_of({"n": []}, graph=None)
    assert json.loads(merge(part, part)) == profile_of({"n": []}, {"n": []}, graph=None)
    check_refused(merge(part, host(0, 1)), "host0.json has no graph")
    check_refused(merge(host(0, 1), part), "host1.json has no graph")


def test_other_nodes(merge):
    done = merge(host(0, 1), host(1, 1, ("nn0", "nn1", "nn2")))
    sentence = check_refused(done, "nn2")
    assert sentence.index("host1.json") < sentence.index("nn2") < sentence.index("host0.json")
    done = merge(host(0, 1, ("nn0", "nn1", "nn2")), host(1, 1), host(2, 1))
    sentence = check_refused(done, "nn2")
    assert sentence.index("host0.json") < sentence.index("nn2") < sentence.index("host1.json")
    check_refused(merge(host(0, 1), host(1, 1), host(2, 1, ("nn0", "nn9"))), "nn1", "host2.json")


def test_a_bad_part(merge):
    check_refused(merge(host(0, 1), {"graph": None}), "host1.json", "worker_profiles")


def test_members_of_hosts_are_kept(merge):
    """What our profiles hold beyond DBSP's is told for each host."""
    first = host(0, 2, threads=[{"tid": 1}], dbprof={"dbsp": "0.354.0"})
    second = host(1, 1, dbprof={"pid": 7})
    merged = json.loads(merge(first, second))
    assert merged["hosts"] == [
        {
            "first_worker": 0,
            "workers": 2,
            "members": {"threads": [{"tid": 1}], "dbprof": {"dbsp": "0.354.0"}},
        },
        {"first_worker": 2, "workers": 1, "members": {"dbprof": {"pid": 7}}},
    ]
    assert "threads" not in merged and "dbprof" not in merged


def test_offsets(merge, tmp_path):
    """Workers of a part of the pipeline keep their numbers."""
    merged = merge(host(0, 2), host(1, 3), arguments=["--offset", "4,6"])
    assert [part["first_worker"] for part in json.loads(merged)["hosts"]] == [4, 6]
    path = tmp_path / "merged.json"
    assert run("report", path, "--metric", "x_count", "--worker", "8").returncode == COMPLETE
    check_refused(run("report", path, "--worker", "3"), "from 4 to 8")
    again = run("merge", path, path, "-o", "-", "--offset", "4,9")
    assert [part["first_worker"] for part in json.loads(again.stdout)["hosts"]] == [4, 9]
    for offsets in ("4,5", "4,7", "6,4"):
        done = merge_again(tmp_path, offsets)
        check_refused(done, "host1.json", "the next one")


def merge_again(tmp_path, offsets):
    paths = [tmp_path / "host0.json", tmp_path / "host1.json"]
    return run("merge", *paths, "-o", tmp_path / "other.json", "--offset", offsets)


@pytest.mark.seconds(120)
def test_real_profiles(windows, tmp_path):
    """DBSP's and ours of the same pipeline: the graphs are the same, so they could be two hosts."""
    builtin, ours = windows["nested"].files
    output = tmp_path / "merged.json"
    done = run("merge", builtin, ours, "-o", output)
    assert done.returncode == COMPLETE, done.stderr
    merged = json.loads(output.read_text())
    window = windows["nested"]
    assert merged["worker_profiles"] == [
        *window.builtin["worker_profiles"],
        *window.ours["worker_profiles"],
    ]
    assert merged["graph"] == window.builtin["graph"]
    assert merged["hosts"][1]["members"]["dbprof"] == window.ours["dbprof"]
    check_refused(run("merge", builtin, windows["join"].files[0], "-o", tmp_path / "x"), "has the node")

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Two windows side by side: snapshots, JSON of ours, JSON of DBSP itself."""

import json

import pytest
from harness import COMPLETE, FAILED, USAGE, Lab
from profiles import reading, workers

RECORD = ["sh", "-c", 'program=$1; shift; exec "$program" record "$@"', "sh"]


class Files:
    """Profiles of one pipeline with a small and a large load, and of another one."""

    def __init__(self, lab):
        self.lab = lab
        self.small, self.builtin = self.take("join", "small", workers=2, steps=40, records=100)
        self.large, _ = self.take("join", "large", workers=2, steps=40, records=4000)
        self.other, _ = self.take("sleeper", "other", workers=1, steps=5)
        self.small_json = lab.path("small-ours.json")
        exported = lab.run("export", self.small, "-f", "json", "-o", self.small_json)
        assert exported.popen.returncode == COMPLETE

    def take(self, scenario, name, **options):
        builtin, path = self.lab.path(f"{name}.json"), self.lab.path(f"{name}.dbprof")
        target = self.lab.target(scenario, builtin=builtin, **options)
        profiler = self.lab.profiler(
            "--pid", target.pid, "-o", path, "--mode", "engine", prefix=RECORD
        )
        profiler.wait_attached()
        target.go()
        target.wait_done()
        assert profiler.stop() == COMPLETE, profiler.describe()
        target.finish()
        return path, builtin


@pytest.fixture(scope="module")
def files(_built, tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("diff"))
    yield Files(lab)
    lab.close()


def diff(lab, *arguments):
    process = lab.run("diff", "--json", *arguments)
    assert process.popen.returncode == COMPLETE and process.stderr == "", process.describe()
    return json.loads(process.stdout)


def row(compared, what):
    [found] = [entry for entry in compared["circuit"] if entry["what"] == what]
    return found


def test_larger_load_is_slower(lab, files):
    """Forty times the records in each of as many steps."""
    compared = diff(lab, files.small, files.large)
    assert compared["per"] == "step"
    steps = compared["before"]["steps"]
    assert steps > 0 and compared["after"]["steps"] > 0
    step = row(compared, "step")
    assert step["after"] > step["before"] > 0
    assert step["change"] == pytest.approx(step["after"] - step["before"], abs=0.01)
    assert step["total_before"] == pytest.approx(step["before"] * steps, rel=1e-5)
    changes = [op["change"] for op in compared["operators"] if op["in"] == "both"]
    assert len(changes) > 20 and changes == sorted(changes, reverse=True) and changes[0] > 0
    assert all(op["in"] == "both" and not op["noise"] for op in compared["operators"])
    back = diff(lab, files.large, files.small)
    assert row(back, "step")["change"] == pytest.approx(-step["change"], abs=0.01)


def test_numbers_are_the_profile(lab, files):
    """Totals are those of the profile, over all workers and for one of them."""
    profile = json.loads(files.small_json.read_text())
    total = sum(reading(profile, w, "n", "circuit_runtime_seconds") for w in workers(profile))
    compared = diff(lab, files.small, files.large)
    assert row(compared, "step")["total_before"] == total
    one = diff(lab, files.small, files.large, "--worker", 1)
    assert one["before"]["workers"] == 1
    assert one["before"]["steps"] == reading(profile, 1, "n", "steps_count")
    of_one = reading(profile, 1, "n", "circuit_runtime_seconds")
    assert row(one, "step")["total_before"] == of_one
    [operator] = [op for op in one["operators"] if op["node"] == "nn1"]
    assert operator["total_before"] == reading(profile, 1, "nn1", "runtime_seconds")
    assert operator["count_before"] == reading(profile, 1, "nn1", "invocations_count")


def test_json_and_snapshot_are_the_same(lab, files):
    compared = diff(lab, files.small, files.small_json)
    assert all(entry["change"] == 0 for entry in compared["circuit"])
    assert all(op["change"] == 0 for op in compared["operators"])


def test_with_the_engines_own_profile(lab, files):
    """It has no share of the kernel, which is said, and the same steps."""
    compared = diff(lab, files.builtin, files.small)
    assert compared["before"]["steps"] == compared["after"]["steps"]
    assert row(compared, "run queue")["measured_before"] is False
    assert row(compared, "run queue")["measured_after"] is True
    assert row(compared, "step")["ratio"] == pytest.approx(1, abs=0.2)
    assert all(op["in"] == "both" for op in compared["operators"] if op["count_after"])
    text = lab.run("diff", files.builtin, files.small).stdout
    [line] = [line for line in text.splitlines() if line.endswith("run queue")]
    assert line.split()[0] == "-"


def test_text(lab, files):
    process = lab.run("diff", files.small, files.large, "--top", 3)
    assert process.popen.returncode == COMPLETE and process.stderr == ""
    lines = process.stdout.splitlines()
    assert lines[0].startswith(f"before: {files.small}: 2 workers")
    assert "Times are per step" in process.stdout
    [title] = [i for i, line in enumerate(lines) if line.startswith("slower, worst first")]
    shown = lines[title + 2 : lines.index("", title)]
    assert "the first 3 of" in lines[title] and len(shown) == 3
    assert all(len(line) <= 80 for line in lines if str(files.small) not in line)
    everything = lab.run("diff", files.small, files.large, "--all").stdout
    assert "the first" not in everything and len(everything) > len(process.stdout)


def test_sampled_changes_in_the_noise(lab):
    """Of two equal windows of an idle pipeline with few samples no operator is said to differ."""
    target = lab.target("idle", workers=1)
    paths = [lab.path("a.dbprof"), lab.path("b.dbprof")]
    for path in paths:
        process = lab.run(
            "record", "-q", "--pid", target.pid, "-d", "300ms", "--mode", "sampled", "-o", path
        )
        assert process.popen.returncode in (COMPLETE, 3), process.describe()
    compared = diff(lab, *paths)
    assert compared["per"] == "second"
    assert all(op["change"] == 0 or op["noise"] for op in compared["operators"])


def test_only_in_one(lab, files):
    """The same id with another label is another operator."""

    def rename(cluster):
        for child in cluster["nodes"]:
            [node] = child.values()
            if node["id"] == "nn19":
                node["label"] = "something else"
            rename({"nodes": [], **node})

    profile = json.loads(files.small_json.read_text())
    rename(profile["graph"]["nodes"])
    path = lab.path("renamed.json")
    path.write_text(json.dumps(profile))
    operators = diff(lab, files.small, path)["operators"]
    assert [(op["node"], op["in"]) for op in operators[-2:]] == [
        ("nn19", "before"),
        ("nn19", "after"),
    ]
    assert all(op["in"] == "both" for op in operators[:-2])
    text = lab.run("diff", files.small, path).stdout
    assert "only in before" in text and "something else" in text


class TestRefused:
    def test_other_pipeline(self, lab, files):
        process = lab.run("diff", files.small, files.other)
        assert process.popen.returncode == FAILED and process.stdout == ""
        assert len(process.lines["stderr"]) == 1 and "different pipelines" in process.stderr

    def test_no_such_worker(self, lab, files):
        process = lab.run("diff", files.small, files.large, "--worker", 2)
        assert process.popen.returncode == FAILED and process.stdout == ""
        assert process.lines["stderr"] == ["dbprof-bpf: the first profile: it has no worker 2"]

    def test_no_profile(self, lab, files):
        path = lab.path("x.json")
        path.write_text("{}")
        process = lab.run("diff", files.small, path)
        assert process.popen.returncode == FAILED and len(process.lines["stderr"]) == 1
        assert str(path) in process.stderr

    @pytest.mark.parametrize("arguments", [[], ["a"], ["a", "b", "c"], ["-", "-"]])
    def test_usage(self, lab, arguments):
        assert lab.run("diff", *arguments).popen.returncode == USAGE

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Profiles for pprof and flame graphs and pictures of the circuit: the numbers of the JSON, once."""

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest
from harness import COMPLETE, TOP
from pprof_file import TYPES, Profile
from profiles import breakdown, graph_nodes, operator_times, reading, window_nanos, workers

WINDOWS = [
    "join",
    "nested",
    "wide",
    "stuck",
    "idle",
    "join --mode sampled",
    "nested --mode sampled",
    "nested --mode exact",
    "nested --mode waits",
]
# Numbers that the engine or probes count, of which none is an estimate.
COUNTED = ["join", "nested", "nested builtin", "nested --mode exact"]
DIRECT = {
    "join": dict(workers=2, steps=200),
    "nested": dict(workers=2, steps=30, records=30),
}


@pytest.fixture(scope="module")
def profile(windows):
    """The JSON profile of a window; of the engine's own profiler for "NAME builtin"."""

    def of(name):
        if name.endswith(" builtin"):
            return windows[name.removesuffix(" builtin")].builtin
        return windows[name].ours

    return of


@pytest.fixture(scope="module")
def export(windows, profile, tmp_path_factory):
    """Writes a profile in another format, once; returns the file."""
    folder = tmp_path_factory.mktemp("export")
    written = {}

    def run(name, form):
        if (name, form) not in written:
            source, output = folder / "profile.json", folder / f"{len(written)}.{form}"
            source.write_text(json.dumps(profile(name)))
            process = windows.lab.run("export", source, "--format", form, "--output", output)
            assert process.popen.returncode == COMPLETE, process.describe()
            written[name, form] = output
        return written[name, form]

    return run


@pytest.fixture(scope="module")
def direct(windows, tmp_path_factory):
    """A window that is written in the format at once; all formats of a scenario, once."""
    folder = tmp_path_factory.mktemp("direct")
    taken = {}

    def take(scenario, form):
        if (scenario, form) not in taken:
            output = folder / f"{scenario}.{form}"
            target = windows.lab.target(
                scenario, builtin=folder / "builtin.json", **DIRECT[scenario]
            )
            ours = windows.lab.profiler(
                "--pid", target.pid, "--format", form, "--output", output
            )
            ours.wait_attached()
            target.go()
            target.wait_done()
            assert ours.stop() == COMPLETE, ours.describe()
            target.finish()
            taken[scenario, form] = output
        return taken[scenario, form]

    return take


@pytest.fixture(scope="session")
def pprof():
    """Runs pprof, which is built once."""
    program = subprocess.check_output([TOP / "tools" / "pprof.sh"], text=True).strip()

    def run(*arguments):
        return subprocess.run(
            [program, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=True
        ).stdout

    return run


def whole(profile, worker):
    """Nanoseconds of a worker that a profile tells of."""
    return sum(
        reading(profile, worker, "n", metric) or 0
        for metric in (
            "circuit_runtime_seconds",
            "circuit_idle_time_seconds",
            "circuit_edge_idle_seconds",
        )
    )


def worker_of(sample):
    name, _, number = sample.labels["worker"].partition(" ")
    assert name == "worker"
    return int(number)


def folded(path):
    """Nanoseconds by stack."""
    sums = Counter()
    for line in path.read_text().splitlines():
        stack, _, number = line.rpartition(" ")
        sums[tuple(stack.split(";"))] += int(number)
    return sums


def in_brackets(sample):
    return [name for name in sample.stack if name.startswith("[")]


@pytest.mark.parametrize("name", [*WINDOWS, "join builtin", "nested builtin"])
class TestSums:
    def test_form(self, export, profile, name):
        decoded = Profile(export(name, "pprof"))
        assert decoded.types == [(kind, "nanoseconds") for kind in TYPES]
        assert decoded.default_type == "wall"
        assert any(comment.startswith("written by dbprof-bpf") for comment in decoded.comments)
        for sample in decoded.samples:
            assert sample.values["wall"] == sample.values["cpu"] + sample.values["off-cpu"] > 0
            assert sample.labels["reason"] == sample.stack[-1]
            assert sample.stack[1] == f"worker {worker_of(sample)}"
        if "dbprof" in profile(name):
            assert decoded.duration == window_nanos(profile(name))
            assert decoded.time > 1_500_000_000 * 10**9

    def test_each_nanosecond_is_in_one_stack(self, export, profile, name):
        ours = profile(name)
        sums = Profile(export(name, "pprof")).totals("wall", worker_of)
        assert sums == {worker: whole(ours, worker) for worker in workers(ours)}
        if "dbprof" in ours:
            assert set(sums.values()) == {window_nanos(ours)}

    def test_operators(self, export, profile, name):
        """Each has what the JSON says, on each worker."""
        ours = profile(name)
        sums = Counter()
        for sample in Profile(export(name, "pprof")).samples:
            if "node" in sample.labels and "[waiting]" not in sample.stack:
                sums[worker_of(sample), sample.labels["node"]] += sample.values["wall"]
        wanted = Counter()
        for worker in workers(ours):
            for node, time in operator_times(ours, worker).items():
                wanted[worker, node] = time
        # The root has what is left, and is no operator.
        assert +wanted == {key: time for key, time in sums.items() if key[1] != "n"}

    def test_folded(self, export, name):
        """The same stacks with the same times."""
        sums = Counter()
        for sample in Profile(export(name, "pprof")).samples:
            sums[sample.stack] += sample.values["wall"]
        assert sums and folded(export(name, "folded")) == sums


@pytest.mark.parametrize("name", COUNTED)
def test_cpu_time(export, profile, name):
    """The samples' CPU time is that of steps, and what there is outside of them."""
    ours = profile(name)
    sums = Profile(export(name, "pprof")).totals("cpu", worker_of)
    for worker in workers(ours):
        steps = reading(ours, worker, "n", "circuit_cpu_time_seconds")
        outside = reading(ours, worker, "n", "outside_step_cpu_seconds") or 0
        assert sums[worker] == steps + outside


def test_stacks_follow_the_graph(export, profile):
    """Below process and worker: the clusters around a node, then the node."""
    nodes = {node: (parent, label) for node, parent, label, _ in graph_nodes(profile("nested"))}
    seen = set()
    for sample in Profile(export("nested", "pprof")).samples:
        node = sample.labels.get("node")
        if not node:
            continue
        path = []
        while node:
            path.insert(0, node)
            node = nodes[node][0]
        assert sample.nodes[2 : 2 + len(path)] == tuple(path)
        for name, node in zip(sample.stack[2:], path):
            assert name == nodes[node][1] or (node == "nn4" and name == "circuit nn4")
        seen.add(sample.labels["node"])
    assert {"nn4", "nn4_n16", "nn0"} <= seen


def test_frames_have_their_source(export):
    decoded = Profile(export("nested", "pprof"))
    assert decoded.place("Map @ s/scenarios.rs:107:35") == ("s/scenarios.rs", 107)
    assert decoded.place("Plus") == ("", 0)
    assert decoded.place("circuit nn4") == ("", 0)


@pytest.mark.parametrize(
    "name, frames",
    [
        ("nested", {"[scheduler]", "[waiting]", "[idle]", "[outside steps]"}),
        ("nested --mode waits", {"[operators and scheduler]", "[waiting]", "[idle]"}),
        ("nested builtin", {"[scheduler]", "[waiting]", "[idle]"}),
    ],
)
def test_what_is_of_no_operator(export, name, frames):
    names = set()
    for sample in Profile(export(name, "pprof")).samples:
        names.update(in_brackets(sample))
    assert names == frames


def test_waits_of_nested_circuits(export, profile):
    """Those in its steps are its own; the rest is the root's, and together they are the root's."""
    ours = profile("nested builtin")
    sums = Counter()
    for sample in Profile(export("nested builtin", "pprof")).samples:
        if sample.stack[-1] == "peers":
            sums[worker_of(sample), sample.labels["node"]] += sample.values["wall"]
    for worker in workers(ours):
        assert sums[worker, "nn4"] == breakdown(ours, worker, "nn4")["peers"] > 0
        assert sums[worker, "nn4"] + sums[worker, "n"] == breakdown(ours, worker, "n")["peers"]


def without_times(profile):
    """What the engine writes when its CPU profiler is off."""
    for worker in profile["worker_profiles"]:
        for node, meta in worker["metadata"].items():
            worker["metadata"][node] = [
                entry
                for entry in meta
                if entry["value"].get("type") not in ("duration", "percent")
            ]
    return profile


@pytest.mark.parametrize("form", ["pprof", "folded"])
def test_no_times(refused, lab, windows, form):
    profile = without_times(json.loads(json.dumps(windows["join"].builtin)))
    source = lab.path("counts.json")
    source.write_text(json.dumps(profile))
    refused("export", source, "--format", form, says=["no times", "CPU profiler", "off"])


def top(output):
    """Nanoseconds by name, the second number of each line."""
    sums = {}
    for line in output.splitlines():
        match = re.match(r" *(\d+)(?:ns)? +\S+ +\S+ +(\d+)(?:ns)? +\S+ +(.+)$", line)
        if match:
            sums[match[3]] = int(match[2])
    return sums


@pytest.mark.parametrize("name", ["nested", "join --mode sampled", "nested builtin"])
def test_pprof_top(export, profile, pprof, name):
    """pprof itself adds up what the JSON says."""
    ours = profile(name)
    output = pprof(
        *["-top", "-cum", "-unit=ns", "-sample_index=wall", "-nodecount=100000"],
        *["-nodefraction=0", "-edgefraction=0", export(name, "pprof")],
    )
    sums = top(output)
    labels = {node: label for node, _, label, _ in graph_nodes(ours)}
    wanted = Counter()
    for worker in workers(ours):
        for node, time in operator_times(ours, worker).items():
            wanted[labels[node]] += time
    del wanted[""]
    wanted = +wanted
    assert len(wanted) > 10
    assert {label: sums.get(label) for label in wanted} == wanted
    for worker in workers(ours):
        assert sums[f"worker {worker}"] == whole(ours, worker)


def test_pprof_can_focus(export, profile, pprof):
    """By label and by type: what the second worker computed."""
    ours = profile("nested")
    output = pprof(
        *["-top", "-cum", "-unit=ns", "-sample_index=cpu", "-nodefraction=0"],
        *["-tagfocus=worker=^worker 1$", export("nested", "pprof")],
    )
    sums = top(output)
    assert "worker 1" in sums and "worker 0" not in sums
    assert sums["worker 1"] == reading(ours, 1, "n", "circuit_cpu_time_seconds") + reading(
        ours, 1, "n", "outside_step_cpu_seconds"
    )


@pytest.mark.parametrize("scenario", DIRECT)
class TestDirect:
    def test_pprof(self, direct, pprof, profile, scenario):
        path = direct(scenario, "pprof")
        decoded = Profile(path)
        sums = decoded.totals("wall", worker_of)
        assert sums == dict.fromkeys(range(2), decoded.duration)
        output = pprof("-top", "-cum", "-nodecount=1000", "-nodefraction=0", path)
        for node, _, label, kind in graph_nodes(profile(scenario)):
            if kind == "Simple" and any(s.labels.get("node") == node for s in decoded.samples):
                assert label in output

    def test_folded(self, direct, scenario):
        sums = folded(direct(scenario, "folded"))
        by_worker = Counter()
        for stack, time in sums.items():
            by_worker[stack[1]] += time
        assert set(by_worker) == {"worker 0", "worker 1"}
        assert len(set(by_worker.values())) == 1  # both the window
        assert any(stack[-2:] == ("[waiting]", "peers") for stack in sums)

    def test_svg(self, direct, profile, scenario):
        check_picture(direct(scenario, "svg"), profile(scenario))


def check_picture(path, profile):
    """It is XML, and shows each node."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = Counter(text.text for text in root.iter("{http://www.w3.org/2000/svg}text"))
    wanted = Counter(label for _, _, label, _ in graph_nodes(profile) if label)
    assert {label: texts[label] for label in wanted} == wanted
    groups = Counter(group.get("class") for group in root.iter("{http://www.w3.org/2000/svg}g"))
    assert groups["edge"] == len(profile["graph"]["edges"])


@pytest.mark.parametrize("name", ["nested builtin", "wide", "nested --mode waits"])
def test_svg(export, profile, name):
    check_picture(export(name, "svg"), profile(name))


def test_svg_without_times(lab, windows):
    profile = without_times(json.loads(json.dumps(windows["join"].builtin)))
    lab.path("counts.json").write_text(json.dumps(profile))
    output = lab.path("counts.svg")
    process = lab.run("export", lab.path("counts.json"), "--format", "svg", "--output", output)
    assert process.popen.returncode == COMPLETE, process.describe()
    check_picture(output, profile)
    assert "no time of operators is known" in output.read_text()


# What labels may hold, and none of the formats may stumble over.
NASTY = 'a "b" \\N <c> &lt; &amp;;x\ty\nz\u00e4 \U0001f600 @ s/m.rs:1:2'


def test_labels_are_escaped(lab, windows):
    """Quotes, entities, semicolons and line ends in a label stay in it."""
    profile = json.loads(json.dumps(windows["nested"].builtin))
    [region] = [
        entry["Cluster"]
        for entry in profile["graph"]["nodes"]["nodes"]
        if entry.get("Cluster", {}).get("id") == "n_r0"
    ]
    region["label"] = region["nodes"][0]["Simple"]["label"] = NASTY
    source = lab.path("nasty.json")
    source.write_text(json.dumps(profile))
    for form in ("pprof", "folded", "svg"):
        process = lab.run("export", source, "--format", form, "--output", lab.path(form))
        assert process.popen.returncode == COMPLETE, process.describe()
    assert Profile(lab.path("pprof")).place(NASTY) == ("s/m.rs", 1)
    plain = re.sub("[\t\n]", " ", NASTY)
    assert any(plain.replace(";", ":") in stack for stack in folded(lab.path("folded")))
    texts = [
        text.text
        for text in ElementTree.parse(lab.path("svg")).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts.count(plain) == 2


def test_no_graphviz(refused, lab, windows, idle):
    """Said at once, not when the window is over."""
    source = lab.path("profile.json")
    source.write_text(json.dumps(windows["join"].ours))
    nowhere = {**lab.environment, "PATH": str(lab.folder)}
    says = ["Debian package graphviz"]
    refused("export", source, "--format", "svg", says=says, env=nowhere)
    refused("--pid", idle.pid, "--format", "svg", says=says, env=nowhere)


def test_graphviz_fails(refused, lab, windows):
    """What it says is passed on, and no half of a picture is written."""
    source = lab.path("profile.json")
    source.write_text(json.dumps(windows["join"].ours))
    dot = lab.path("dot")
    dot.write_text("#!/bin/sh\necho '<svg'\necho out of paper >&2\nexit 1\n")
    dot.chmod(0o755)
    environment = {**lab.environment, "PATH": f"{lab.folder}:{lab.environment['PATH']}"}
    refused("export", source, "--format", "svg", says=["out of paper"], env=environment)


def test_no_graph(refused, lab, windows):
    profile = {**windows["join"].builtin, "graph": None}
    source = lab.path("profile.json")
    source.write_text(json.dumps(profile))
    for form in ("pprof", "svg"):
        refused("export", source, "--format", form, says=["no circuit graph"])



def test_names_of_several(lab):
    """The process id goes before the extension, which has a dot inside."""
    targets = [lab.target("idle", workers=1) for _ in range(2)]
    pids = [word for target in targets for word in ("--pid", target.pid)]
    output = lab.path("two.v1.pb.gz")
    process = lab.run(*pids, "--duration", "100ms", "--format", "pprof", "--output", output)
    assert process.popen.returncode == COMPLETE, process.describe()
    for target in targets:
        decoded = Profile(lab.path(f"two.v1-{target.pid}.pb.gz"))
        assert {sample.stack[0] for sample in decoded.samples} == {f"process {target.pid}"}
        assert ("worker 0", "[idle]") in {sample.stack[1:] for sample in decoded.samples}
    assert not output.exists()

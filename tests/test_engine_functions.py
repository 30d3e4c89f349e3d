# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands give what the engine's own profile functions give.

The profiles are those of the test pipeline's scenarios, with the CPU profiler and without, and 500
of random shape and content (tests/target/src/bin/dbsp-oracle). JSON, drawings and added-up workers are
compared for all of them; what takes a run of the program for each question, or writes files, for
the scenarios and a sample of the rest.
"""

import itertools
import json
import re
import subprocess

import pytest
from harness import SANITIZED
from oracle import (
    FIRST_WORKER,
    GENERATED,
    Document,
    Oracle,
    entries,
    for_all,
    output_of,
    run,
    split_dot,
    without_root,
)


@pytest.fixture(scope="module")
def oracle(_built, tmp_path_factory):
    return Oracle(tmp_path_factory.mktemp("oracle"))


def test_the_profiles_are_worth_it(oracle):
    """They hold what the tests below are about."""
    assert len(oracle.generated) == GENERATED and len(oracle.scenarios) == 18
    everything = b"".join(profile.bytes("profile.json") for profile in oracle.generated)
    kinds = set(re.findall(rb'\{"type":"(\w+)","value":', everything))
    assert kinds == {
        b"int", b"count", b"percent", b"cachecounts", b"string", b"bytes", b"duration", b"bool",
    }  # fmt: skip
    for part in (
        b'"value":[{', b'"value":{"k', b'"value":[]', b'"value":{}', b'"labels":[[', b'(output)"',
        b'\\"', b"\\\\", "日本".encode(), b'{"numerator":0,"denominator":0}', b'_n0","label"', b'_r0","label"',
    ):  # fmt: skip
        assert part in everything, part
    counts = {len(Document(p.bytes("profile.json")).workers) for p in oracle.generated}
    assert counts == {1, 2, 3, 4}


def test_json(oracle):
    """as_json: the same bytes but for the order of the nodes in a worker."""

    def check(profile):
        ours = output_of("export", profile.json, "--format", "json", "--output", "-")
        assert Document(ours) == Document(profile.bytes("profile.json")), profile

    for_all(check, oracle.all)


def test_json_without_graph(oracle):
    def check(profile):
        path = profile.path("no-graph.json")
        ours = output_of("export", path, "--format", "json", "--output", "-")
        assert Document(ours) == Document(path.read_bytes()), profile

    for_all(check, oracle.some)


def test_json_zip(oracle):
    """as_json_zip, which is read as well."""

    def check(profile):
        ours = output_of(
            "export", profile.path("profile.zip"), "--format", "json-zip", "--output", "-"
        )
        [(name, content)] = entries(ours)
        [(engines_name, engines)] = entries(profile.bytes("profile.zip"))
        assert name == engines_name == "profile.json"
        assert Document(content) == Document(engines), profile

    for_all(check, oracle.some)


def test_workers_added_up(oracle):
    """WorkerProfile::merge, all workers into the first."""

    def check(profile):
        ours = output_of("merge", "--sum", profile.json, "--output", "-")
        assert Document(ours) == Document(profile.bytes("merged.json")), profile

    for_all(check, oracle.all)


def metrics_of(profile):
    """Six metrics that are read, another choice in each profile, and one that is not."""
    found = sorted({metric for function, _, metric in profile.functions if metric})
    step = max(1, len(found) // 6)
    start = int(re.sub(r"\D", "", profile.name) or 0) % step
    return [*found[start::step], "reported_by_none_count"]


def kind_of(value):
    if isinstance(value, list):
        return "array"
    # Keys of generated maps begin with a k, those of the engine are plural.
    return value["type"] if set(value) == {"type", "value"} else "map"


def test_metric(oracle):
    """attribute_profile and attribute_profile_as_bytes."""

    def check(profile):
        said = profile.functions
        workers = len(Document(profile.bytes("profile.json")).workers)
        for metric in metrics_of(profile):
            result = run("report", profile.json, f"--metric={metric}", "--json")
            readings = json.loads(result.stdout or "[]")
            assert result.returncode == (0 if readings else 1)
            plain = [reading for reading in readings if "labels" not in reading]
            for worker in map(str, range(workers)):
                ours = [r for r in plain if str(r["worker"]) == worker]
                engines = said.get(("attribute_profile", worker, metric), [])
                numbers = said.get(("attribute_profile_as_bytes", worker, metric), [])
                assert sorted((r["node"], kind_of(r["value"])) for r in ours) == sorted(
                    (node, kind) for node, kind, _ in engines
                ), (profile, metric)
                if all(kind == "bytes" for _, kind, _ in engines):
                    assert sorted([r["node"], str(r["value"]["value"])] for r in ours) == sorted(
                        numbers
                    ), (profile, metric)
                else:
                    assert numbers[0][0] == "err"

    for_all(check, oracle.some[::2])


def printable(text):
    """As sentences have it."""
    return "".join(ch if ch.isprintable() else "?" for ch in text)


def check_total(profile, engines, metric, *arguments):
    """One total, or the refusal of one."""
    result = run("report", profile.json, *arguments, "--json")
    what = (profile, metric, arguments, result)
    if engines[0] == "ok":
        assert result.returncode == 0 and not result.stderr, what
        assert json.loads(result.stdout)["total"] == int(engines[1]), what
    else:
        assert result.returncode == 1 and result.stdout == b"", what
        [sentence] = result.stderr.decode().splitlines()
        assert "is no metric of" in sentence, what


def test_total(oracle):
    """attribute_total_as_bytes and attribute_total_as_count, of a worker and of all."""

    def check(profile):
        for kind in ("bytes", "count"):
            for metric in metrics_of(profile):
                for worker, arguments in (("all", ()), ("0", ("--worker", 0))):
                    [engines] = profile.functions[f"attribute_total_as_{kind}", worker, metric]
                    total = (f"--total={metric}", "--as", kind, *arguments)
                    check_total(profile, engines, metric, *total)

    for_all(check, oracle.some[::3])


def test_the_value_that_has_no_total(oracle):
    """The sentence names one of those that the engine may return."""
    seen = 0
    for profile in oracle.some:
        values = profile.functions.get(("attribute_profile", "0", "mixed_count"), [])
        wrong = [(node, text) for node, kind, text in values if kind != "bytes"]
        if not wrong:
            continue
        [engines] = profile.functions["attribute_total_as_bytes", "0", "mixed_count"]
        assert engines[0] == "err" and engines[2] in [text for _, text in wrong]
        sentence = run(
            "report", profile.json, "--total=mixed_count", "--as=bytes", "--worker=0"
        ).stderr.decode()
        assert any(
            f"node {node} of worker 0" in sentence and printable(text)[:40] in sentence
            for node, text in wrong
        ), (profile, sentence, wrong)
        seen += 1
    assert seen > 5


def test_totals_of_memory_and_storage(oracle):
    """total_used_bytes and total_storage_size."""

    def check(profile):
        for function, option in (
            ("total_used_bytes", "--used-bytes"),
            ("total_storage_size", "--storage-size"),
        ):
            [engines] = profile.functions[function, "all", ""]
            check_total(profile, engines, function, option)

    for_all(check, oracle.some)


def same_drawings(ours, engines, profile):
    assert [name for name, _ in ours] == [name for name, _ in engines], profile
    for (name, mine), (_, other) in zip(ours, engines, strict=True):
        what = (profile, name)
        if profile.wild and name != "Makefile":
            mine, other = without_root(mine), without_root(other)
        if name.endswith(".dot"):
            assert split_dot(mine) == split_dot(other), what
        else:
            assert mine == other, what


def test_dot_zip(oracle):
    """write_zip: the same entries in the same order, the same texts but for the order of edges."""

    def check(profile):
        ours = output_of(
            "export", profile.json, "--format", "dot-zip", "--output", "-",
            "--first-worker", FIRST_WORKER,
        )  # fmt: skip
        same_drawings(entries(ours), entries(profile.bytes("graphs.zip")), profile)

    for_all(check, oracle.all)


def test_edges_stand_as_in_the_profile(oracle):
    """The graph is that of the last worker, whose drawing has the edges in the same order."""

    def check(profile):
        [*_, last, _, _] = entries(profile.bytes("graphs.zip"))
        ours = dict(entries(output_of(
            "export", profile.json, "--format", "dot-zip", "--output", "-",
            "--first-worker", FIRST_WORKER,
        )))  # fmt: skip
        assert ours[last[0]] == last[1], profile

    for_all(check, oracle.scenarios)


def files_of(folder):
    return [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]


def test_dot_dir(oracle, tmp_path):
    """GraphProfile::dump: a folder named by the time that the profile covers."""

    def check(profile):
        output = tmp_path / profile.name
        output_of("export", profile.json, "--format", "dot-dir", "--output", output)
        [folder] = output.iterdir()
        engines = profile.dump()
        assert folder.name == (engines.name if profile.elapsed_is_known() else "0")
        same_drawings(files_of(folder), files_of(engines), profile)

    for_all(check, oracle.some)


def test_a_folder_is_not_written_over(oracle, tmp_path):
    [profile, *_] = oracle.some
    output = tmp_path / "drawings"
    output_of("export", profile.json, "--format", "dot-dir", "--output", output)
    before = [files_of(folder) for folder in output.iterdir()]
    result = run("export", profile.json, "--format", "dot-dir", "--output", output)
    assert result.returncode == 1 and result.stderr.count(b"\n") == 1
    assert [files_of(folder) for folder in output.iterdir()] == before


@pytest.mark.parametrize("archive", ["json-zip", "dot-zip", "bundle"])
def test_unzip_takes_it(oracle, tmp_path, archive):
    for profile in oracle.scenarios[:4]:
        output = tmp_path / f"{profile.name}.zip"
        output_of("export", profile.json, "--format", archive, "--output", output)
        result = subprocess.run(["unzip", "-t", output], capture_output=True, text=True)
        assert result.returncode == 0 and "No errors detected" in result.stdout, result


def test_bundle(oracle):
    """One collection in a folder that is named by its time, as Feldera's viewer looks for it."""
    place = re.compile(
        r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z/circuit_profile\.json", re.ASCII
    )
    for profile in oracle.some[:20]:
        ours = output_of("export", profile.json, "--format", "bundle", "--output", "-")
        [(name, content)] = entries(ours)
        assert place.fullmatch(name), name
        assert Document(content) == Document(profile.bytes("profile.json")), profile


def drawn(text, tmp_path, name):
    """What graphviz makes of a dot text; it must have nothing to say against it."""
    path = tmp_path / f"{name}.dot"
    path.write_bytes(text)
    # "canon" and the like need no layout, which takes graphviz minutes for large circuits.
    result = subprocess.run(
        ["gvpr", 'BEG_G { printf("%d %d\\n", nNodes($G), nEdges($G)) }', path],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0 and not result.stderr, (name, result.stderr[-2000:])
    return [tuple(map(int, line.split())) for line in result.stdout.splitlines()]


def test_graphviz_takes_every_label(oracle, tmp_path):
    """The format dot, whatever is in the labels: one graph a worker, with all nodes and edges."""

    def check(profile):
        text = output_of("export", profile.json, "--format", "dot", "--output", "-")
        graphs = drawn(text, tmp_path, profile.name)
        drawings = [c for n, c in entries(profile.bytes("graphs.zip")) if n.endswith(".dot")]
        assert len(graphs) == len(drawings), profile
        for (_, edges), drawing in zip(graphs, drawings, strict=True):
            assert edges == split_dot(drawing)[1].total(), profile

    for_all(check, oracle.some)


def test_graphviz_takes_every_id(tmp_path):
    """Ids that no engine writes, which a file may hold all the same."""
    ids = ["", "digraph", "0n", 'a" -> "b', "back\\", "n0]; x [", "nn1", "naïve", "new\nline"]
    graph = {
        "nodes": {
            "id": "n{}",
            "label": "root",
            "nodes": [{"Simple": {"id": name, "label": name}} for name in ids],
        },
        "edges": [
            {"from_node": a, "from_cluster": False, "to_node": b, "to_cluster": False}
            for a, b in itertools.pairwise(ids)
        ],
    }
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"worker_profiles": [{"metadata": {}}], "graph": graph}))
    text = output_of("export", path, "--format", "dot", "--output", "-")
    # Two more nodes stand for the cluster's ends.
    assert drawn(text, tmp_path, "odd") == [(len(ids) + 2, len(ids) - 1)]


def test_graphviz_draws_a_pipeline(oracle, tmp_path):
    [profile] = (p for p in oracle.scenarios if p.name == "join-cpu")
    output_of("export", profile.json, "--format", "dot-dir", "--output", tmp_path / "drawings")
    [folder] = (tmp_path / "drawings").iterdir()
    subprocess.run(["make", "-s", "-C", folder, "FORMATS=svg"], check=True, timeout=60)
    for number in range(2):
        picture = (folder / f"{number}.svg").read_text()
        assert picture.startswith("<?xml") and picture.count('class="node"') > 40
        assert "JoinTrace" in picture and "runtime_percent" in picture


def test_a_profile_without_graph_is_not_drawn(oracle, tmp_path):
    [profile, *_] = oracle.some
    for drawing in ("dot", "dot-zip", "dot-dir"):
        output = tmp_path / drawing
        result = run(
            "export", profile.path("no-graph.json"), "--format", drawing, "--output", output
        )
        assert result.returncode == 1 and not output.exists()
        assert result.stderr == (
            b"dbprof-bpf: the profile has no circuit graph, so it cannot be drawn\n"
        )


def test_under_the_sanitizers(oracle, tmp_path):
    for profile in oracle.some[::4]:
        for name in ("json", "json-zip", "bundle", "dot", "dot-zip"):
            output_of(
                "export", profile.json, "--format", name, "--output", "-", program=SANITIZED
            )
        output_of("merge", "--sum", profile.json, "--output", "-", program=SANITIZED)
        output_of(
            "export", profile.json, "--format", "dot-dir", "--output", tmp_path / profile.name,
            program=SANITIZED,
        )  # fmt: skip


def nodes_and_edges(dot):
    """What a drawing shows, without the readings: ids with the first line of the label."""
    text, edges = split_dot(dot)
    text = re.sub(rb"@ \S*/scenarios\.rs", b"@ scenarios.rs", text)
    names = re.findall(rb'^(n[n_0-9]*)\[label="(.*?)(?:\\l|" fillcolor)', text, re.M)
    return names, edges


def test_a_window_is_drawn_as_the_engine_draws(oracle, lab):
    """Strict operators are one node there, too, of the graph that was read from the memory."""
    for scenario, options in (("nested", {"records": 30}), ("join", {})):
        target = lab.target(scenario, steps=20, workers=2, **options)
        output = lab.path(f"{scenario}-drawings")
        profiler = lab.profiler("--pid", target.pid, "--format", "dot-dir", "--output", output)
        profiler.wait_attached()
        target.go()
        target.wait_done()
        assert profiler.stop() in (0, 3), profiler.describe()
        [folder] = output.iterdir()
        assert int(folder.name) > 1000
        [profile] = (p for p in oracle.scenarios if p.name == scenario)
        engines = nodes_and_edges((profile.dump() / "0.dot").read_bytes())
        assert b"Z1" in str(engines).encode() or b"Z^-1" in str(engines).encode()
        for number in range(2):
            assert nodes_and_edges((folder / f"{number}.dot").read_bytes()) == engines
            assert (folder / f"{number}.txt").read_text().startswith("root\n")


def test_a_folder_cannot_be_streamed(refused, idle):
    refused("--pid", idle.pid, "--format", "dot-dir", "--output", "-", says=["standard output"])


def test_a_folder_that_holds_something_is_refused_at_once(refused, idle, tmp_path):
    (tmp_path / "mine").write_text("")
    refused("--pid", idle.pid, "--format", "dot-dir", "--output", tmp_path, says=[tmp_path])
    assert [path.name for path in tmp_path.iterdir() if path != refused.folder] == ["mine"]

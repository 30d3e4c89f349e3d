# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Profiles read from files come out as they were; what is none is refused."""

import copy
import gzip
import io
import json
import zipfile

import pytest
from big_profile import write_big_profile
from harness import COMPLETE, SANITIZED
from hypothesis import given, settings
from hypothesis import strategies as st
from profile_files import (
    as_json,
    check_refused,
    export,
    graph_of,
    profile_of,
    reading,
    refuse,
    run,
    small_profile,
    typed,
)

MEGABYTE = 1 << 20

u64 = st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**53 + 1, 2**63, 2**64 - 1])
nanos = st.integers(0, 999_999_999)
text = st.text(max_size=12) | st.sampled_from(["", "\x00", "a\x00b", '"\\\b\f\n\r\t\x1f\x7f', "type"])
duration = st.fixed_dictionaries({"secs": u64, "nanos": nanos})
i64_below_zero = st.integers(-(2**63), -1)
percent = st.fixed_dictionaries({"numerator": u64 | i64_below_zero, "denominator": u64})
cache_counts = st.fixed_dictionaries({"count": u64, "bytes": u64, "elapsed": duration})


def of_type(kind, value):
    return st.fixed_dictionaries({"type": st.just(kind), "value": value})


def sorted_map(entries):
    return dict(sorted(entries.items()))


leaf = st.one_of(
    *(of_type(kind, u64) for kind in ("int", "count", "bytes")),
    of_type("percent", percent),
    of_type("cachecounts", cache_counts),
    of_type("string", text),
    of_type("duration", duration),
    of_type("bool", st.booleans()),
)
value = st.recursive(
    leaf,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(text, inner, max_size=3).map(sorted_map),
    max_leaves=6,
)
metric = st.sampled_from(["runtime_seconds", "steps_count", "new_in_the_future_stats"]) | text
labels = st.lists(st.tuples(text, text), max_size=2)


def in_order(readings):
    """As the engine's map has them: by metric, then by labels; each once."""
    made = []
    for name, pairs, item in sorted(readings, key=lambda found: found[:2]):
        labelled = {"labels": [list(pair) for pair in pairs]} if pairs else {}
        made.append({"metric_id": name, **labelled, "value": item})
    return made


readings = st.lists(
    st.tuples(metric, labels, value), max_size=5, unique_by=lambda found: (found[0], tuple(found[1]))
).map(in_order)
NODES = ["n", "nn0", "nn4", "nn4_n2", "nn4294967295", "nn1_n2_n3_n4_n5_n6_n7_n8"]
worker = st.dictionaries(st.sampled_from(NODES), readings, max_size=4)
other_json = st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
others = st.dictionaries(
    st.sampled_from(["threads", "dbprof", "hosts", "x y"]), other_json, max_size=3
)


@st.composite
def profiles(draw):
    label = draw(text)
    graph = draw(st.sampled_from([None, graph_of(*NODES[1:])]))
    if graph:
        graph["nodes"]["label"] = label
        graph["nodes"]["nodes"].append(
            {"Cluster": {"id": "n_r0", "label": label, "nodes": [{"Simple": {"id": "z", "label": ""}}]}}
        )
    members = draw(others)
    if draw(st.booleans()):
        members["metrics"] = draw(st.lists(other_json, max_size=2))
    return profile_of(*draw(st.lists(worker, max_size=3)), graph=graph, **members)


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(profiles())
def test_round_trip(profile):
    data = as_json(profile)
    assert export(data) == data


@settings(max_examples=30, deadline=None, derandomize=True, database=None)
@given(profiles())
def test_round_trip_sanitized(profile):
    data = as_json(profile)
    assert export(data, SANITIZED) == data


def test_layout_of_the_text_does_not_matter():
    """White space, escapes, the order of members and of readings."""
    profile = small_profile()
    wanted = as_json(profile)
    turned = copy.deepcopy(profile)
    for made in turned["worker_profiles"]:
        for node in made["metadata"].values():
            node.reverse()
    turned = {"graph": turned["graph"], "worker_profiles": turned["worker_profiles"]}
    for indent in (None, 3):
        spaced = json.dumps(turned, indent=indent, ensure_ascii=True).encode()
        assert export(b" \r\n\t" + spaced + b"\n\n") == wanted


def test_members_beside_those_of_dbsp():
    """Kept as they are but for white space, wherever they stand and however long they are."""
    members = {
        "metrics": [{"name": 'a "b" \\ c', "x": [1.50, -1e3, None]}, {}, []],
        "threads": [{"name": "a  b\t", "n": number} for number in range(3000)],
        "later": "a\\",
        "number": 12,
    }
    profile = {"worker_profiles": [], "graph": None}
    wanted = {"metrics": members["metrics"], **profile, **members}
    for indent in (None, 2):
        data = json.dumps({**members, **profile}, indent=indent).encode()
        assert export(data) == as_json(wanted)
    data = b'{"number" : 1.50e+3 , "worker_profiles":[],"graph":null}'
    assert export(data) == b'{"worker_profiles":[],"graph":null,"number":1.50e+3}'


def test_all_members_but_workers_may_be_missing():
    assert export(b'{"worker_profiles":[]}') == b'{"worker_profiles":[],"graph":null}'


@pytest.mark.seconds(180)
@pytest.mark.parametrize(
    "name", ["spine", "sharded", "sleeper", "join", "nested", "wide", "stuck", "spin", "idle"]
)
def test_real_profiles(windows, name):
    """Byte for byte: what DBSP wrote of each pipeline, and what we wrote of it."""
    for path in windows[name].files:
        data = path.read_bytes()
        assert export(data) == data.rstrip(), path


def zipped(**entries):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("__", "/"), data)
    return packed.getvalue()


@pytest.mark.parametrize(
    "name", ["profile.json", "20260102-030405__pipe_circuit_profile.json", "circuit_profile.json"]
)
@pytest.mark.parametrize("stdin", [True, False])
def test_zip(tmp_path, name, stdin):
    data = as_json(small_profile())
    packed = zipped(**{"logs.txt": b"x" * 70000, name: data, "late__circuit_profile.json": b"{"})
    if stdin:
        assert export(packed) == data
        return
    path = tmp_path / "bundle.zip"
    path.write_bytes(packed)
    done = run("export", path, "--format", "json", "--output", "-")
    assert done.stdout == data, done.stderr


def test_gzip(tmp_path):
    data = as_json(small_profile())
    assert export(gzip.compress(data)) == data
    # Several, as from `cat`, are one text.
    assert export(gzip.compress(data[:99]) + gzip.compress(data[99:])) == data
    path = tmp_path / "slow.json.gz"
    path.write_bytes(gzip.compress(data))
    assert run("report", path).returncode == COMPLETE


def test_zip_without_profile():
    refuse(zipped(**{"logs.txt": b"x", "circuit_profile.json.txt": b"{}"}), "without a profile")
    refuse(zipped(), "without a profile")


@pytest.mark.parametrize("stdin", [True, False])
@pytest.mark.parametrize("pack", [lambda data: zipped(**{"profile.json": data}), gzip.compress])
def test_truncated_package(tmp_path, pack, stdin):
    whole = pack(as_json(small_profile()))
    path = tmp_path / "cut"
    # A zip ends in a directory that may be missing.
    end = len(whole) if pack is gzip.compress else whole.rindex(b"PK\1\2")
    for length in range(0, end, 37):
        path.write_bytes(whole[:length])
        if stdin:
            refuse(whole[:length])
        else:
            check_refused(run("export", path, "-f", "json", "-o", "-"))


def test_damaged_zip():
    whole = zipped(**{"profile.json": as_json(small_profile())})
    for at in (14, 22):  # the checksum, the length
        damaged = bytearray(whole)
        damaged[at] ^= 1
        refuse(bytes(damaged), "cannot be unpacked")


def test_damaged_gzip():
    whole = bytearray(gzip.compress(as_json(small_profile())))
    whole[-6] ^= 1  # of the checksum
    refuse(bytes(whole), "cannot be unpacked")
    refuse(gzip.compress(as_json(small_profile())) + b"more", "cannot be unpacked")


def test_truncated_json():
    data = as_json(small_profile())
    for length in range(0, len(data), 31):
        refuse(data[:length])
    refuse(data[:-1], "cut off")


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_damaged_json_never_crashes(data):
    """What comes out of damaged bytes is a profile or a refusal, by the sanitizers' word."""
    damaged = bytearray(as_json(small_profile()))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(st.integers(0, 255) | st.sampled_from(list(b'{}[]",:0\\')))
    done = run("export", "-", "-f", "json", "-o", "-", input=bytes(damaged), program=SANITIZED)
    if done.returncode == COMPLETE:
        assert export(done.stdout) == done.stdout
    else:
        check_refused(done)


def with_value(made):
    return profile_of({"nn0": [reading("x_count", made)]}, graph=graph_of("nn0"))


NO_UINT = ["-1", "-0", "1.0", "1.5", "1e3", "18446744073709551616", '"5"', "null", "true", "[]", "{}"]


@pytest.mark.parametrize("number", NO_UINT)
@pytest.mark.parametrize(
    "made",
    [
        typed("int", "@"),
        typed("count", "@"),
        typed("bytes", "@"),
        typed("percent", {"numerator": "@", "denominator": 1}),
        typed("duration", {"secs": "@", "nanos": 1}),
        typed("duration", {"secs": 1, "nanos": "@"}),
        typed("cachecounts", {"count": 1, "bytes": "@", "elapsed": {"secs": 1, "nanos": 1}}),
    ],
    ids=lambda made: made["type"],
)
def test_numbers_out_of_range(made, number):
    if made["type"] == "percent" and number == "-1":
        number = "-9223372036854775809"  # DBSP 0.375.0 has numerators below zero: an i64
    data = as_json(with_value(made)).replace(b'"@"', number.encode())
    refuse(data, "worker 0", "node nn0", "metric x_count")


@pytest.mark.parametrize("number", ["01", "+1", "0x1", "NaN", "Infinity", ".5", "1."])
def test_numbers_that_are_no_json(number):
    refuse(as_json(with_value(typed("int", "@"))).replace(b'"@"', number.encode()), "near byte")


BAD_VALUES = [
    (typed("duration", {"secs": 1, "nanos": 10**9}), "999999999"),
    (typed("duration", {"secs": 1}), "belong together"),
    (typed("duration", {"secs": 1, "nanos": 1, "more": 1}), "more"),
    (typed("duration", 5), "an object"),
    (typed("percent", {"numerator": 1}), "belong together"),
    (typed("cachecounts", {"count": 1, "bytes": 1}), "belong together"),
    (typed("string", 5), "a text"),
    (typed("bool", 1), "true or false"),
    (typed("float", 1.5), "float"),
    ({"type": "int", "value": 1, "unit": "s"}, "the end of the value"),
    ({"type": "int"}, "the member value"),
    ({"value": 1, "type": "int"}, "a value was expected"),
    (5, "a value was expected"),
    (None, "a value was expected"),
    ([5], "a value was expected"),
    ({"key": "text"}, "a value was expected"),
]


@pytest.mark.parametrize("made,says", BAD_VALUES)
def test_bad_values(made, says):
    refuse(as_json(with_value(made)), says, "metric x_count")


def nested(depth):
    made = typed("int", 1)
    for _ in range(depth):
        made = [made]
    return made


def test_depth_is_bounded():
    data = as_json(with_value(nested(32)))
    assert export(data) == data
    refuse(as_json(with_value(nested(33))), "too deep")
    refuse(b'{"worker_profiles":' + b"[" * 100_000, program=SANITIZED)
    refuse(b'{"x":' + b"[" * 100_000, "too deep", program=SANITIZED)
    cluster = b'{"Cluster":{"id":"n_r0","label":"","nodes":['
    refuse(
        b'{"graph":{"nodes":{"id":"n","label":"","nodes":[' + cluster * 5000,
        "too deep",
        program=SANITIZED,
    )


NODE = reading("x_count", typed("int", 1))
GRAPH = graph_of("nn0")


@pytest.mark.parametrize(
    "profile,says",
    [
        (profile_of({"nn7": [NODE]}, graph=GRAPH), ["worker 0", "nn7", "graph lacks"]),
        (profile_of({"nn0": []}, {"nn7": []}, graph=GRAPH), ["worker 1", "nn7", "graph lacks"]),
        (profile_of({"n_r0": [NODE]}, graph=GRAPH), ["n_r0", "no id of a node"]),
        (profile_of({"nn00": [NODE]}, graph=GRAPH), ["nn00", "no id of a node"]),
        (profile_of({"nn0": [NODE, NODE]}, graph=GRAPH), ["x_count", "twice"]),
        (profile_of({"nn0": [{"metric_id": "x"}]}, graph=GRAPH), ["without metric_id or value"]),
        (profile_of({"nn0": [{**NODE, "unit": "s"}]}, graph=GRAPH), ["unit"]),
        (profile_of({"nn0": [{**NODE, "labels": [["a"]]}]}, graph=GRAPH), ["value of a label"]),
        (profile_of({"nn0": [{**NODE, "labels": ["a"]}]}, graph=GRAPH), ["a label"]),
        (profile_of({"nn0": [{**NODE, "metric_id": 5}]}, graph=GRAPH), ["name of a metric"]),
        (profile_of({"nn0": {}}, graph=GRAPH), ["an array of readings"]),
        (profile_of(graph={}), ["without nodes or edges"]),
        (profile_of(graph={**GRAPH, "edges": [{"from_node": "n"}]}), ["edge"]),
        (profile_of(graph={**GRAPH, "nodes": {"id": "n", "nodes": []}}), ["without id, label"]),
        (profile_of(graph=[]), ["a graph or null"]),
        (profile_of(graph=None, metrics={}), ["an array of metrics"]),
        ({"graph": None}, ["worker_profiles"]),
        ({"worker_profiles": {}}, ["an array of workers"]),
        ({"worker_profiles": [{}]}, ["metadata"]),
        ({"worker_profiles": [{"metadata": {}, "more": 1}]}, ["end of a worker"]),
        ({"worker_profiles": [5]}, ["a worker's profile"]),
        ([], ["neither JSON that begins with {"]),
        ({}, ["worker_profiles"]),
    ],
)
def test_bad_structure(profile, says):
    refuse(as_json(profile), *says)


@pytest.mark.parametrize(
    "data,says",
    [
        (b"", "empty"),
        (b"   ", "cut off"),
        (b"<html>", "neither JSON"),
        (b'{"worker_profiles":[],"worker_profiles":[]}', "twice"),
        (b'{"worker_profiles":[],"graph":null,"graph":null}', "twice"),
        (b'{"worker_profiles":[],"x":1,"x":2}', "twice"),
        (b'{"worker_profiles":[{"metadata":{"n":[],"n":[]}}]}', "twice"),
        (b'{"worker_profiles":[]} {}', "near byte"),
        (b'{"worker_profiles":[]}x', "near byte"),
        (b'{"worker_profiles":[],}', "near byte"),
        (b'{"worker_profiles":[],"x":"\xff"}', "UTF-8"),
        (b'{"worker_profiles":[],"x":"\xc0\x80"}', "UTF-8"),
        (b'{"worker_profiles":[],"x":"\xed\xa0\x80"}', "UTF-8"),
        (b'{"worker_profiles":[],"x":"\\ud800"}', "surrogate"),
        (b'{"worker_profiles":[],"x":"\\ud83d\\n"}', "surrogate"),
        (b'{"worker_profiles":[],"x":"\\ude00\\ud83d"}', "surrogate"),
        (b'{"worker_profiles":[],"x":"a\nb"}', "near byte"),
    ],
)
def test_bad_text(data, says):
    refuse(data, says)


def test_surrogate_pairs_and_backslashes():
    data = b'{"worker_profiles":[{"metadata":{"n":[{"metric_id":"\\ud83d\\ude00\\\\ud800",'
    data += b'"value":{"type":"int","value":1}}]}}]}'
    wanted = "\U0001f600\\ud800"
    [made] = json.loads(export(data))["worker_profiles"]
    assert made["metadata"]["n"][0]["metric_id"] == wanted


TERABYTE = 1 << 40


@pytest.mark.parametrize("begin", [b"", b'{"worker_profiles":[', b'{"x":"', b" "])
def test_endless_zeros(tmp_path, begin):
    """Far more than can be read: refused for what it begins with."""
    path = tmp_path / "zeros.json"
    with open(path, "wb") as file:
        file.write(begin)
        file.truncate(TERABYTE)
    check_refused(run("report", path, timeout=20), path)


@pytest.mark.parametrize("begin,fill", [(b'{"x":"', b"a"), (b"{", b" "), (b'{"x":1', b"1")])
def test_endless_token(begin, fill):
    """A text, a gap or a number without an end takes no memory."""
    refuse(begin + fill * (5 * MEGABYTE), "more than a megabyte")


def test_endless_node():
    """A node whose readings never end is refused before they take the memory."""
    node = as_json(NODE) + b","
    data = b'{"worker_profiles":[{"metadata":{"n":[' + node * 600_000
    refuse(data, "more readings than any node has")


def test_devices_and_folders(tmp_path):
    check_refused(run("report", "/dev/zero", timeout=20), "/dev/zero")
    check_refused(run("report", "/dev/null"), "empty")
    check_refused(run("report", tmp_path), "folder")
    check_refused(run("report", tmp_path / "missing.json"), "No such file")
    check_refused(run("report", ""), "No such file")


def test_good_output_stays(tmp_path):
    """What was there is not replaced by half of a profile."""
    path, output = tmp_path / "a.json", tmp_path / "b.json"
    output.write_text("good")
    write_big_profile(path, workers=2, nodes=200)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 5)
    check_refused(run("export", path, "-f", "json", "-o", output), "cut off")
    assert output.read_text() == "good"

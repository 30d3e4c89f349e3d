# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Feldera's profile viewer opens our files: it throws on some faults and drops others silently."""

import json

import pytest
from harness import TOP
from profiles import graph_nodes, metadata, workers

SCENARIOS = [
    *["spine", "sharded", "sleeper", "join", "nested", "wide", "stuck", "idle"],
    *[f"{name} --mode {mode}" for name in ("join", "nested") for mode in ("sampled", "waits")],
    *[f"{name} --mode exact" for name in ("join", "nested")],
]

# What the viewer decodes a reading by: the last part of the metric's name. Any other is dropped.
SUFFIXES = {
    "bool": "bool",
    "bytes": "number",
    "count": "number",
    "hits": "cache",
    "misses": "cache",
    "stats": "map",
    "id": "string",
    "percent": "percent",
    "seconds": "duration",
    "occupancy": "map",
    "bounds": "any",
    "merges": "any",
    "policy": "string",
}


def suffix(metric):
    return metric.rpartition("_")[2]


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def kind_of(value):
    """What the viewer takes a reading's value for."""
    kind = value.get("type")
    if kind is None:
        assert all(isinstance(part, dict) for part in value.values())
        return "map"
    inner = value["value"]
    if kind in ("count", "int", "bytes"):
        assert is_number(inner), value
        return "number"
    if kind == "percent":
        assert set(inner) == {"numerator", "denominator"}, value
        assert all(map(is_number, inner.values())), value
        return "percent"
    if kind == "duration":
        assert set(inner) == {"secs", "nanos"} and all(map(is_number, inner.values())), value
        assert inner["nanos"] < 1_000_000_000, value
        return "duration"
    if kind == "cachecounts":
        assert set(inner) == {"count", "bytes", "elapsed"}, value
        assert is_number(inner["count"]) and is_number(inner["bytes"]), value
        assert kind_of({"type": "duration", "value": inner["elapsed"]}) == "duration"
        return "cache"
    if kind == "string":
        assert isinstance(inner, str)
        return "string"
    assert kind == "bool" and isinstance(inner, bool), value
    return "bool"


def all_readings(profile):
    for worker in workers(profile):
        for node, meta in metadata(profile, worker).items():
            for entry in meta:
                yield node, entry


@pytest.fixture(params=["ours", "builtin"])
def profile(request, windows, name):
    """DBSP's own profile too: the rules are not stricter than what it does."""
    return getattr(windows[name], request.param)


@pytest.mark.parametrize("name", SCENARIOS)
class TestViewer:
    def test_top_level(self, windows, name):
        ours = windows[name].ours
        assert list(ours)[:3] == ["metrics", "worker_profiles", "graph"]
        assert set(ours) == {"metrics", "worker_profiles", "graph", "threads", "dbprof"}
        assert ours["graph"] is not None and set(ours["graph"]) == {"nodes", "edges"}
        assert all(set(profile) == {"metadata"} for profile in ours["worker_profiles"])

    def test_readings(self, windows, name):
        """Every one has an ending that the viewer knows, and the kind of value it asks for."""
        kinds = {}
        for node, entry in all_readings(windows[name].ours):
            assert set(entry) in ({"metric_id", "value"}, {"metric_id", "value", "labels"}), node
            metric = entry["metric_id"]
            kind = kind_of(entry["value"])
            wanted = SUFFIXES[suffix(metric)]
            assert wanted in ("any", kind), f"{node} {metric}: {entry['value']}"
            assert kinds.setdefault(metric, kind) == kind, f"{metric} is of two kinds"
            for label in entry.get("labels", ()):
                assert len(label) == 2 and all(isinstance(part, str) for part in label)
            assert entry.get("labels", True), f"{node} {metric}: empty labels are left out"

    def test_encodings(self, windows, name):
        """A metric that DBSP reports too has the very type it has there."""
        window = windows[name]
        types = {
            entry["metric_id"]: entry["value"].get("type")
            for _, entry in all_readings(window.builtin)
        }
        for node, entry in all_readings(window.ours):
            metric = entry["metric_id"]
            if metric in types:
                assert entry["value"].get("type") == types[metric], f"{node} {metric}"

    def test_order(self, profile, name):
        """By id, then labels, as DBSP's sorted map writes them; none occurs twice."""
        for worker in workers(profile):
            for node, meta in metadata(profile, worker).items():
                keys = [(entry["metric_id"], entry.get("labels", [])) for entry in meta]
                assert keys == sorted(keys), node
                assert len({str(key) for key in keys}) == len(keys), node

    def test_metadata_is_of_nodes_in_the_graph(self, profile, name):
        nodes = {node for node, _, _, _ in graph_nodes(profile)}
        for worker in workers(profile):
            assert set(metadata(profile, worker)) <= nodes
            assert "n" in metadata(profile, worker)

    def test_node_ids(self, profile, name):
        """Unique; and an edge joins nodes that exist, each as the kind it is."""
        nodes = graph_nodes(profile)
        kinds = {node: kind for node, _, _, kind in nodes}
        assert len(kinds) == len(nodes)
        assert nodes[0][0] == "n"
        for edge in profile["graph"]["edges"]:
            assert set(edge) == {"from_node", "from_cluster", "to_node", "to_cluster"}
            for end in ("from", "to"):
                assert (kinds[edge[f"{end}_node"]] == "Cluster") == edge[f"{end}_cluster"]

    def test_metrics(self, windows, name):
        """The engine's 79 as the built-in profile has them, then ours."""
        window = windows[name]
        builtin, ours = window.builtin["metrics"], window.ours["metrics"]
        assert len(builtin) == 79
        assert ours[:79] == builtin
        known = {metric["name"] for metric in builtin}
        assert len(ours) > 79
        for metric in ours[79:]:
            assert list(metric) == list(builtin[0])
            assert metric["name"] not in known and suffix(metric["name"]) in SUFFIXES
            assert metric["category"] in {other["category"] for other in builtin}
            assert isinstance(metric["advanced"], bool) and metric["description"]
        listed = {metric["name"] for metric in ours}
        assert {entry["metric_id"] for _, entry in all_readings(window.ours)} <= listed


def test_our_metrics_are_documented():
    """The manual page names every metric that we add."""
    manual = (TOP / "docs" / "dbprof-bpf.1.md").read_text()
    for metric in json.loads((TOP / "user" / "metrics" / "ours.json").read_text()):
        assert metric["name"] in manual

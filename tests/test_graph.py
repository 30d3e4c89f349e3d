# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The circuit graph, read from the target's memory, is the one that DBSP draws itself."""

import pytest
from profiles import graph_edges, graph_nodes, metadata, workers

SCENARIOS = ["spine", "sharded", "sleeper", "join", "nested", "wide", "stuck", "spin", "idle"]


@pytest.mark.parametrize("name", SCENARIOS)
class TestGraph:
    def test_nodes(self, windows, name):
        """Ids, labels, nesting, and which node is a cluster."""
        window = windows[name]
        builtin = graph_nodes(window.builtin)
        assert len(builtin) >= 3
        assert sorted(graph_nodes(window.ours), key=str) == sorted(builtin, key=str)

    def test_edges(self, windows, name):
        window = windows[name]
        assert graph_edges(window.ours) == graph_edges(window.builtin)

    def test_order_of_nodes(self, windows, name):
        """The viewer lays nodes out in their order."""
        window = windows[name]
        assert graph_nodes(window.ours) == graph_nodes(window.builtin)

    def test_metadata_keys(self, windows, name):
        """Every worker reports the same nodes as DBSP does."""
        window = windows[name]
        assert len(window.ours["worker_profiles"]) == len(window.builtin["worker_profiles"])
        for worker in workers(window.builtin):
            ours, builtin = (metadata(p, worker) for p in (window.ours, window.builtin))
            assert set(ours) == set(builtin), f"worker {worker}"

    def test_complete(self, windows, name):
        window = windows[name]
        assert window.status == 0, window.profiler.describe()
        assert window.ours["dbprof"]["complete"], window.ours["dbprof"]["lost"]


def test_scenarios_differ(windows):
    """The graphs above are not trivially equal: nested circuits, regions and edges occur."""
    nested = graph_nodes(windows["nested"].builtin)
    assert any(kind == "Cluster" and node == "nn4" for node, _, _, kind in nested)
    assert any(node.startswith("nn4_r") for node, _, _, _ in nested)
    assert any("@ s/scenarios.rs" in label for _, _, label, _ in nested)
    assert len(graph_nodes(windows["wide"].builtin)) > 1000
    assert len(graph_edges(windows["join"].builtin)) > 30

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Makes profiles by hand, for what no pipeline would do."""


def made_profile(nodes, edges=(), worker_profiles=(), **members):
    graph = {
        "nodes": {"id": "n", "label": "root", "nodes": nodes},
        "edges": [
            {"from_node": a, "from_cluster": False, "to_node": b, "to_cluster": False}
            for a, b in edges
        ],
    }
    return {"metrics": [], "worker_profiles": list(worker_profiles), "graph": graph, **members}


def simple(number, label):
    return {"Simple": {"id": f"nn{number}", "label": label}}


def duration(nanoseconds):
    secs, rest = divmod(nanoseconds, 10**9)
    return {"type": "duration", "value": {"secs": secs, "nanos": rest}}


def region(number, label, nodes):
    return {"Cluster": {"id": f"n_r{number}", "label": label, "nodes": nodes}}

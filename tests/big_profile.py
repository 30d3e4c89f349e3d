# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Writes a profile as large as those of wide pipelines on large machines."""

import json

METRICS = ["allocated_memory_bytes", "used_memory_bytes", "shared_memory_bytes"]
DURATIONS = ["runtime_seconds", "exchange_wait_time_seconds", "merge_backpressure_wait_time_seconds"]
PERCENTS = ["runtime_percent", "nonblocking_percent", "output_redundancy_percent"]
COUNTS = ["invocations_count", "state_records_count", "spine_batches_count", "loose_batches_count"]


def typed(kind, value):
    return {"type": kind, "value": value}


def readings(worker, node):
    """Eighteen readings of an operator, in the order of the engine's map."""
    number = worker * 1_000_003 + node * 7919
    found = [(name, typed("bytes", number + i)) for i, name in enumerate(METRICS)]
    found += [
        (name, typed("duration", {"secs": node, "nanos": number % 1_000_000_000}))
        for name in DURATIONS
    ]
    found += [
        (name, typed("percent", {"numerator": number, "denominator": 2**40 + number}))
        for name in PERCENTS
    ]
    found += [(name, typed("count", number * (i + 1))) for i, name in enumerate(COUNTS)]
    batches = ["avg_records_count", "batches_count", "max_records_count"]
    found += [
        ("input_batches_stats", {name: typed("count", number + 1) for name in batches}),
        ("persistent_id", typed("string", f"{number:064x}")),
        ("location", typed("string", f"operator/{node}.rs:{worker}:1")),
        (
            "foreground_cache_hits",
            typed(
                "cachecounts",
                {"count": number, "bytes": number * 2, "elapsed": {"secs": 1, "nanos": 5}},
            ),
        ),
        ("rebalancing_in_progress_bool", typed("bool", node % 2 == 0)),
    ]
    return [{"metric_id": name, "value": value} for name, value in sorted(found)]


def write_big_profile(path, workers, nodes):
    """Workers differ by their first nodes; the rest is made once, which is quick."""

    def text(value):
        return json.dumps(value, separators=(",", ":"))

    rest = ",".join(f'"nn{node}":{text(readings(1, node))}' for node in range(1, nodes))
    graph = {
        "nodes": {
            "id": "n",
            "label": "",
            "nodes": [
                {"Simple": {"id": f"nn{node}", "label": f"operator {node}"}}
                for node in range(nodes)
            ],
        },
        "edges": [
            {
                "from_node": f"nn{node}",
                "from_cluster": False,
                "to_node": f"nn{node + 1}",
                "to_cluster": False,
            }
            for node in range(nodes - 1)
        ],
    }
    with open(path, "w") as out:
        out.write('{"worker_profiles":[')
        for worker in range(workers):
            first = f'"nn0":{text(readings(worker, 0))}'
            out.write(f'{"," if worker else ""}{{"metadata":{{{first},{rest}}}}}')
        out.write(f'],"graph":{text(graph)}}}')

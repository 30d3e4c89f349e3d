# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Profiles made by hand, in files, and the commands that read them."""

import json
import subprocess

from harness import COMPLETE, ENVIRONMENT, FAILED, PROGRAM
from refusal import check_sentence


def typed(kind, value):
    return {"type": kind, "value": value}


def seconds(nanos):
    return typed("duration", {"secs": nanos // 10**9, "nanos": nanos % 10**9})


def reading(metric, value, **labels):
    made = {"metric_id": metric, "value": value}
    if labels:
        made = {"metric_id": metric, "labels": [list(pair) for pair in labels.items()], **made}
        made["value"] = made.pop("value")
    return made


def graph_of(*nodes):
    return {
        "nodes": {
            "id": "n",
            "label": "root",
            "nodes": [{"Simple": {"id": node, "label": f"operator {node}"}} for node in nodes],
        },
        "edges": [
            {"from_node": a, "from_cluster": False, "to_node": b, "to_cluster": False}
            for a, b in zip(nodes, nodes[1:])
        ],
    }


def profile_of(*workers, graph, **members):
    """Members in the order in which DBSP writes them; `metrics` first, others last."""
    made = {"metrics": members.pop("metrics")} if "metrics" in members else {}
    made["worker_profiles"] = [{"metadata": nodes} for nodes in workers]
    return {**made, "graph": graph, **members}


def small_profile():
    """One of each kind of value, two workers."""
    node = [
        reading("foreground_cache_occupancy", {"max": typed("bytes", 5), "used": typed("int", 1)}),
        reading("key_distribution", [typed("count", 1), typed("string", "b")]),
        reading("loose_batches_count", typed("count", 3), slot="0"),
        reading("loose_batches_count", typed("count", 4), slot="1"),
        reading("nonblocking_percent", typed("percent", {"numerator": 1, "denominator": 3})),
        reading("persistent_id", typed("string", 'quoted " \\ \n \u00e9 \U0001f600 \x00 end')),
        reading("rebalancing_in_progress_bool", typed("bool", True)),
        reading("runtime_seconds", seconds(1_500_000_000)),
        reading("used_memory_bytes", typed("bytes", 2048)),
        reading(
            "x_hits",
            typed("cachecounts", {"count": 2, "bytes": 4, "elapsed": {"secs": 0, "nanos": 9}}),
        ),
    ]
    root = [reading("steps_count", typed("int", 7)), node[-2]]
    return profile_of(
        {"nn1": node, "n": root}, {"n": [], "nn0": node}, graph=graph_of("nn0", "nn1")
    )


def as_json(profile):
    """As serde_json writes it in its compact form."""
    return json.dumps(profile, ensure_ascii=False, separators=(",", ":")).encode()


def run(*arguments, input=b"", program=PROGRAM, timeout=60, **options):
    return subprocess.run(
        [str(word) for word in (program, *arguments)],
        input=input,
        capture_output=True,
        timeout=timeout,
        env=ENVIRONMENT,
        **options,
    )


def export(data, program=PROGRAM):
    """The profile in `data`, read and written again."""
    done = run(
        "export", "-", "--format", "json", "--output", "-", input=data, program=program
    )
    assert done.returncode == COMPLETE, done.stderr
    assert done.stderr == b""
    return done.stdout


def check_refused(done, *says):
    assert done.returncode == FAILED, done
    assert done.stdout == b""
    [sentence] = done.stderr.decode().splitlines()
    check_sentence(sentence, says)
    return sentence


def refuse(data, *says, program=PROGRAM):
    """That profile is refused, with a sentence that holds these words."""
    return check_refused(
        run("export", "-", "--format", "json", "--output", "-", input=data, program=program), *says
    )

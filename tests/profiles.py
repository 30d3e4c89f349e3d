# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads profiles, DBSP's own and ours alike."""

REASONS = [
    "unattributed",
    "merge_backpressure",
    "peers",
    "operator_pending",
    "scheduler",
    "storage_read",
    "storage_write",
    "storage_sync",
    "storage_metadata",
    "network",
]

MILLISECOND = 1_000_000
SECOND = 1_000_000_000


def nanos(duration):
    """Nanoseconds of {"secs": .., "nanos": ..}."""
    assert 0 <= duration["nanos"] < SECOND and duration["secs"] >= 0, duration
    return duration["secs"] * SECOND + duration["nanos"]


def value_of(reading):
    """A plain number, or nanoseconds, or the value as it stands."""
    value = reading["value"]
    if value.get("type") == "duration":
        return nanos(value["value"])
    return value["value"] if "type" in value else value


def metadata(profile, worker):
    return profile["worker_profiles"][worker]["metadata"]


def readings(profile, worker, node, metric):
    """Values of a metric of a node by labels, as a tuple of pairs."""
    return {
        tuple(map(tuple, reading.get("labels", ()))): value_of(reading)
        for reading in metadata(profile, worker)[node]
        if reading["metric_id"] == metric
    }


def reading(profile, worker, node, metric):
    """The one value of a metric without labels, None when there is none."""
    return readings(profile, worker, node, metric).get(())


def workers(profile):
    return range(len(profile["worker_profiles"]))


def circuits(profile, worker):
    """Ids of the circuits, root and nested ones, that made a step."""
    return sorted(
        node
        for node, meta in metadata(profile, worker).items()
        if any(r["metric_id"] == "circuit_wait_time_seconds" for r in meta)
    )


def breakdown(profile, worker, circuit):
    """Nanoseconds waited, by reason."""
    return by_label(profile, worker, circuit, "circuit_wait_by_reason_seconds", "reason")


def invocations(profile, worker):
    """How often each operator was evaluated, by node."""
    return {
        node: reading(profile, worker, node, "invocations_count")
        for node in metadata(profile, worker)
        if reading(profile, worker, node, "invocations_count") is not None
    }


def window_nanos(ours):
    return nanos(ours["dbprof"]["window"]["length"])


# What becomes of a thread's time; "blocked" is split by cause.
PARTS = ("on_cpu", "run_queue", "preempted", "blocked", "unobserved")


def split(durations):
    """Nanoseconds by name."""
    return {name: nanos(duration) for name, duration in durations.items()}


def books(thread):
    """Nanoseconds of a thread by what became of them, and all of them."""
    parts = {
        part: sum(split(thread[part]).values()) if part == "blocked" else nanos(thread[part])
        for part in PARTS
    }
    return parts, nanos(thread["observed"])


def all_threads(ours):
    """The books of every thread: workers, others, and the sum of those that have exited."""
    return ours["dbprof"]["workers"] + ours["threads"]


def operators(profile, worker):
    """Ids of the operators that were evaluated and timed."""
    return sorted(
        node
        for node in metadata(profile, worker)
        if reading(profile, worker, node, "runtime_seconds") is not None
    )


def operator_times(profile, worker, metric="runtime_seconds"):
    """A metric of each operator that was timed."""
    return {
        node: reading(profile, worker, node, metric) for node in operators(profile, worker)
    }


def by_label(profile, worker, node, metric, label):
    """Nanoseconds of a metric that is split by one label."""
    found = readings(profile, worker, node, metric)
    for labels in found:
        assert len(labels) == 1 and labels[0][0] == label, labels
    return {labels[0][1]: value for labels, value in found.items()}


def graph_nodes(profile):
    """(id, parent's id, label, kind) of all nodes of the graph."""

    def walk(cluster, parent, kind):
        yield cluster["id"], parent, cluster["label"], kind
        for child in cluster["nodes"]:
            [(name, node)] = child.items()
            if name == "Cluster":
                yield from walk(node, cluster["id"], name)
            else:
                yield node["id"], cluster["id"], node["label"], name

    return list(walk(profile["graph"]["nodes"], None, "Cluster"))


def graph_edges(profile):
    return sorted(
        (edge["from_node"], edge["from_cluster"], edge["to_node"], edge["to_cluster"])
        for edge in profile["graph"]["edges"]
    )

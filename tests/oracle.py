# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What DBSP's own profile functions give of the same profiles, and readers of what both write.

See tests/target/src/bin/dbsp-oracle/give.rs for the files of a profile's folder.
"""

import io
import json
import subprocess
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from harness import ENVIRONMENT, PROGRAM, target_path

GENERATED = 500
SEED = 20240607
# The engine's second host in the oracle's archives.
FIRST_WORKER = 4


def run(*arguments, program=PROGRAM):
    """Runs dbprof-bpf; its output is kept as bytes."""
    return subprocess.run(
        [str(word) for word in (program, *arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        timeout=60,
    )


def output_of(*arguments, program=PROGRAM):
    """The standard output of a run that must go well."""
    result = run(*arguments, program=program)
    assert result.returncode == 0 and not result.stderr, (arguments, result.stderr[-2000:])
    return result.stdout


def for_all(check, profiles):
    """Runs `check` on each profile, two at a time; the first failure is raised."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(check, profiles))


class Profile:
    """The folder of one profile."""

    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        self.json = folder / "profile.json"
        # The readings of the root depend on the order of a hash map; see values.rs.
        self.wild = self.name.startswith("generated") and self.name.endswith("9")

    def __repr__(self):
        return self.name

    def path(self, name):
        return self.folder / name

    def bytes(self, name):
        return self.path(name).read_bytes()

    def dump(self):
        """The folder of GraphProfile::dump()."""
        [folder] = self.path("dump").iterdir()
        return folder

    def elapsed_is_known(self):
        """The root says how long the pipeline has been running, as with the CPU profiler."""
        [worker, *_] = json.loads(self.bytes("profile.json"))["worker_profiles"]
        return any(
            reading["metric_id"] == "circuit_runtime_elapsed_seconds"
            and "labels" not in reading
            and isinstance(reading["value"], dict)
            and reading["value"].get("type") == "duration"
            for reading in worker["metadata"]["n"]
        )

    @cached_property
    def functions(self):
        """What the engine's functions give: lists of results by function, worker and metric."""
        by_place = {}
        for line in self.bytes("functions.txt").decode().removesuffix("\n").split("\n"):
            function, worker, metric, *result = map(unescaped, line.split("\t"))
            by_place.setdefault((function, worker, metric), []).append(result)
        return by_place


def unescaped(text):
    parts = text.split("\\\\")
    return "\\".join(part.replace("\\t", "\t").replace("\\n", "\n") for part in parts)


class Oracle:
    def __init__(self, folder):
        program = target_path("oracle")
        assert program.exists(), f"{program} is missing: run 'make target'"
        subprocess.run([program, "scenarios", folder], check=True, timeout=60)
        subprocess.run(
            [program, "generated", folder, str(GENERATED), str(SEED)], check=True, timeout=60
        )
        self.all = [Profile(path) for path in sorted(Path(folder).iterdir())]
        self.scenarios = [p for p in self.all if not p.name.startswith("generated")]
        self.generated = [p for p in self.all if p.name.startswith("generated")]
        # For what takes a run of several programs: every scenario and each ninth of the rest.
        self.some = self.scenarios + self.generated[::9]


class Document:
    """A JSON profile as text pieces, each as it was written.

    The engine takes the nodes of a worker from a hash map, so their order says nothing; the order
    of everything else does.
    """

    def __init__(self, data):
        text = data.decode()
        value = json.loads(text, object_pairs_hook=list)
        self.members = [key for key, _ in value]
        members = dict(value)
        self.workers = []
        for worker in members["worker_profiles"]:
            [(key, metadata)] = worker
            assert key == "metadata"
            assert len(dict(metadata)) == len(metadata)
            self.workers.append({node: compact(readings) for node, readings in metadata})
        self.rest = {k: compact(v) for k, v in value if k != "worker_profiles"}
        # Nothing was lost on the way: as many bytes as the file has.
        self.length = len(data)

    def __eq__(self, other):
        return vars(self) == vars(other)


def compact(value):
    """Lists of pairs stand for objects, so this keeps the order of their members."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def split_dot(data):
    """The text up to the edges, and the edges, whose order comes from a hash map."""
    lines = data.split(b"\n")
    assert lines[-2:] == [b"}", b""]
    end = len(lines) - 2
    while lines[end - 1] != b"}":
        end -= 1
    edges = lines[end:-2]
    assert all(b" -> " in edge for edge in edges)
    return b"\n".join(lines[:end]), Counter(edges)


def without_root(data):
    """A drawing or a text without the readings of the root, which come first."""
    if data.startswith(b"digraph"):
        before, _, rest = data.partition(b'label="root')
        return before + b"enter_n[" + rest.partition(b'"\nenter_n[')[2]
    return data[data.find(b"\n    ") :]


def entries(data):
    """Names and contents of a zip archive, checked, in the order of the archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return [(entry.filename, archive.read(entry)) for entry in archive.infolist()]

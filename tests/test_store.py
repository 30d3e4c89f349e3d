# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The store of profiles: killed writers, full disks, foreign files; and the commands that read it."""

import json
import os
import random
import re
import signal
import subprocess
import time
import zlib

import pytest
from harness import COMPLETE, FAILED, PROGRAM, TOP, USAGE, Process

DRIVER = TOP / "build" / "unit" / "store_driver"
NAME = re.compile(r"dbprof-\d{8}T\d{6}\.\d{9}Z-\d{10}ms-p\d{10}-s\d{20}-[eic]\.dbprof")
TEMPORARY = re.compile(r"\.dbprof-store-[0-9a-f]{16}\.tmp")
BLOCK = 4096
BEGIN = 1700000000  # 2023-11-14T22:13:20Z
KILLS = 25


def put(folder, keep=1 << 30, pid=7, begin=BEGIN, step=60, count=1, *more):
    """Keeps profiles; returns what the writer says."""
    return subprocess.run(
        [str(word) for word in (DRIVER, "put", folder, keep, pid, begin, step, count, *more)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def writer(folder, keep=1 << 30, *more):
    """One that goes on until it is killed."""
    process = Process([DRIVER, "put", folder, keep, 7, BEGIN, 60, 0, *more])
    process.expect("stdout", "^open$", 30)
    return process


def stored(folder):
    return sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))


def begin_of(path):
    return int(time.strftime("%s", time.strptime(path.name[7:22] + "UTC", "%Y%m%dT%H%M%S%Z")))


def assert_whole(path):
    """The last four bytes are a checksum of the others."""
    data = path.read_bytes()
    assert len(data) > 100 and zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little"), path


def run(*words):
    return subprocess.run(
        [str(word) for word in (PROGRAM, *words)],
        capture_output=True, text=True, timeout=60, env={**os.environ, "TZ": "Etc/GMT-1"},
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _driver():
    assert DRIVER.exists(), f"{DRIVER} is missing: run 'make unit'"


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a quarter of a megabyte."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


# Writing


def test_retention(store):
    """The first and the last one stay, and what is between them lies evenly."""
    probe = put(store, count=1)
    assert probe.returncode == 0, probe
    [first] = stored(store)
    size = -(-first.stat().st_size // BLOCK) * BLOCK
    first.unlink()
    keep = 20 * size
    assert put(store, keep, count=120).returncode == 0
    left = stored(store)
    assert len(left) == 20
    begins = [begin_of(path) for path in left]
    gaps = [b - a for a, b in zip(begins, begins[1:], strict=False)]
    assert begins[-1] - begins[0] == 119 * 60
    assert max(gaps) <= 4 * 120 * 60 / 20
    for path in left:
        assert_whole(path)
        assert path.stat().st_mode & 0o777 == 0o600
    assert store.stat().st_mode & 0o777 == 0o700
    # The same again gives the same.
    assert put(store.with_name("again"), keep, count=120).returncode == 0
    assert [path.name for path in stored(store.with_name("again"))] == [p.name for p in left]


def test_empty_profile_takes_no_place(store):
    assert put(store, count=3).returncode == 0
    before = stored(store)
    used = sum(-(-path.stat().st_size // BLOCK) * BLOCK for path in before)
    result = put(store, used, 7, BEGIN + 6000, 60, 1, 1, "empty")
    assert result.returncode == 3 and "nothing was measured" in result.stdout
    assert stored(store) == before
    assert put(store, 2 * used, 7, BEGIN + 6000, 60, 1, 1, "empty").returncode == 0
    assert len(stored(store)) == 4


def test_profile_that_is_too_large(store):
    result = put(store, 100)
    assert result.returncode == 3
    assert "does not fit into the store" in result.stdout
    assert list(store.iterdir()) == []


def test_killed_at_any_moment(store):
    """Whenever it dies, each profile is whole, and the next writer tidies up and goes on."""
    chance = random.Random(6)
    left_behind = 0
    for _ in range(KILLS):
        process = writer(store, 64 * BLOCK, 200)
        time.sleep(chance.uniform(0, 0.03))
        process.popen.send_signal(signal.SIGKILL)
        process.kill()
        names = [path.name for path in store.iterdir()]
        assert all(NAME.fullmatch(name) or TEMPORARY.fullmatch(name) for name in names), names
        left_behind += sum(bool(TEMPORARY.fullmatch(name)) for name in names)
        for path in stored(store):
            assert_whole(path)
        if len(stored(store)) > 30:
            for path in stored(store):
                path.unlink()
    assert left_behind > 0, "no writer was killed while it wrote"
    result = put(store, 1 << 30, 8)
    assert result.returncode == 0, result
    assert all(NAME.fullmatch(path.name) for path in store.iterdir())


def test_full_disk(small_disk):
    """It says so, leaves nothing half written, keeps what is there, and goes on with room."""
    store = small_disk / "store"
    process = writer(store, 1 << 30)
    try:
        process.expect("stdout", "No space left on device", 30)
        os.kill(process.pid, signal.SIGSTOP)
        until_stopped(process.pid)
        before = stored(store)
        assert before
        for path in before:
            assert_whole(path)
        for path in before[1::2]:
            path.unlink()
        said = len(process.lines["stdout"])
        os.kill(process.pid, signal.SIGCONT)
        end = time.monotonic() + 30
        while not any(line.startswith("kept") for line in process.lines["stdout"][said:]):
            assert time.monotonic() < end, process.lines["stdout"][-3:]
            time.sleep(0.02)
    finally:
        process.kill()
    assert before[0].exists()
    assert put(store, 64 << 10).returncode in (0, 3)
    assert not [path for path in store.iterdir() if TEMPORARY.fullmatch(path.name)]


def until_stopped(pid):
    end = time.monotonic() + 10
    while True:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "T":
                return
        assert time.monotonic() < end
        time.sleep(0.01)


def test_places_that_are_no_store(tmp_path, small_disk):
    file = tmp_path / "file"
    file.touch()
    assert put(file).stderr == f"cannot open the store {file}: Not a directory\n"
    missing = tmp_path / "a" / "b"
    assert put(missing).stderr == f"cannot make the store {missing}: No such file or directory\n"
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    assert put(small_disk).stderr == (
        f"cannot write into the store {small_disk}: Read-only file system\n"
    )


def test_one_writer(store):
    process = writer(store, 8 * BLOCK)
    try:
        result = put(store)
        assert result.returncode == 1
        assert result.stderr == (
            f"another dbprof-bpf writes into the store {store}: give each a folder of its own\n"
        )
    finally:
        process.kill()
    assert put(store, pid=9).returncode == 0


def test_foreign_files(store, tmp_path):
    """What is not the store's stays as it is, whatever it is called; links are not followed."""
    outside = tmp_path / "outside"
    outside.write_text("precious")
    assert put(store).returncode == 0
    [first] = stored(store)
    name = first.name
    first.unlink()
    others = ["notes.txt", ".dbprof-store-x.tmp", name + "~", "dbprof-1.dbprof"]
    for other in others:
        (store / other).write_text("mine")
    (store / name).symlink_to(outside)
    link = store / ".dbprof-store-0123456789abcdef.tmp"
    link.symlink_to(outside)
    (store / name.replace("c.dbprof", "i.dbprof")).mkdir()
    listed = subprocess.check_output([DRIVER, "list", store, "0", "0", "9000000000"], text=True)
    assert listed == ""
    result = put(store)
    assert result.returncode == 3 and "File exists" in result.stdout
    assert put(store, 5 * BLOCK, 7, BEGIN + 600, 60, 50).returncode == 0
    assert outside.read_text() == "precious"
    assert link.is_symlink() and (store / name).is_symlink()
    assert all((store / other).read_text() == "mine" for other in others)
    refused = run("report", "--store", store, "--at", f"@{BEGIN}", "--pid", 8)
    assert refused.returncode == FAILED
    assert refused.stderr == f"dbprof-bpf: the store {store} has no profile of process 8\n"


# Reading


@pytest.fixture
def filled(store):
    """Ten minutes of process 7, and five of process 8."""
    assert put(store, 1 << 30, 7, BEGIN, 60, 10).returncode == 0
    assert put(store, 1 << 30, 8, BEGIN, 60, 5).returncode == 0
    return store


def test_find(filled):
    def find(*words):
        words = [DRIVER, "list", filled, *map(str, words)]
        return subprocess.check_output(words, text=True).splitlines()

    assert len(find(0, 0, BEGIN * 2)) == 15
    assert len(find(8, 0, BEGIN * 2)) == 5
    found = find(7, BEGIN + 90, BEGIN + 150)
    assert [name[7:22] for name in found] == ["20231114T221420", "20231114T221520"]
    assert find(7, 0, BEGIN - 1) == []


@pytest.mark.parametrize(
    "time_text",
    ["2023-11-14T22:15:30Z", "2023-11-14 22:15:30.5Z", "2023-11-14T23:15:30+01:00", f"@{BEGIN + 130}",
     "2023-11-14T23:15:30", "2023-11-14T23:16"],
)  # fmt: skip
def test_report(filled, time_text):
    """It is what the file says; times without a zone are local ones."""
    [path] = [p for p in stored(filled) if "T221520" in p.name and "-p0000000007-" in p.name]
    wanted = run("report", path)
    result = run("report", "--store", filled, "--at", time_text, "--pid", 7)
    assert result.returncode == COMPLETE and result.stderr == "", result
    assert result.stdout == wanted.stdout and "7" in result.stdout
    total = ["--metric", "steps_count", "--json"]
    asked = run("report", "--store", filled, "--at", time_text, "--pid", 7, *total)
    assert json.loads(asked.stdout) == json.loads(run("report", path, *total).stdout)


def test_report_of_another_time(filled):
    result = run("report", "--store", filled, "--at", "now")
    assert result.returncode == COMPLETE
    assert result.stderr == (
        "dbprof-bpf: no profile holds now; the nearest one, of process 7, is from "
        "2023-11-14T22:22:20.000000000Z to 2023-11-14T22:23:20.000000000Z\n"
    )
    assert run("report", "--store", filled, "--at", "-1m").returncode == COMPLETE


def test_several_processes(filled):
    result = run("report", "--store", filled, "--at", f"@{BEGIN}")
    assert result.returncode == FAILED
    assert result.stderr.endswith("choose one with --pid: 7, 8\n")


def test_diff(filled):
    times = ["--at", f"@{BEGIN}", "--at", f"@{BEGIN + 250}", "--pid", 8]
    result = run("diff", "--json", "--store", filled, *times)
    assert result.returncode == COMPLETE, result
    before, after = [p for p in stored(filled) if "-p0000000008-" in p.name][::4]
    files = json.loads(run("diff", "--json", before, after).stdout)
    ours = json.loads(result.stdout)
    assert ours["circuit"] == files["circuit"] and ours["operators"] == files["operators"]


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--store", "x"], ["report", "--at", "now", "f"], ["report", "--pid", "7", "f"],
        ["report", "--store", "x", "--at", "now", "f"],
        ["report", "--store", "x", "--at", "now", "--at", "now"],
        ["report", "--store", "x", "--at", "2023-02-31T00:00"],
        ["report", "--store", "x", "--at", "yesterday"], ["report", "--store", "x", "--at", "@"],
        ["report", "--store", "x", "--at", "2023-11-14T22:15:30Zx"],
        ["report", "--store", "x", "--at", "now", "--pid", "0"],
        ["diff", "--store", "x", "--at", "now"], ["diff", "--store", "x", "--at", "now", "f", "g"],
    ],
)  # fmt: skip
def test_usage(words):
    result = run(*words)
    assert result.returncode == USAGE and result.stdout == ""


def test_damaged_file(filled):
    path = stored(filled)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = run("report", "--store", filled, "--at", f"@{BEGIN}", "--pid", 7)
    assert result.returncode == FAILED and result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"dbprof-bpf: cannot read {path}: ")


def test_no_store(tmp_path):
    missing = tmp_path / "missing"
    result = run("report", "--store", missing, "--at", "now")
    assert result.returncode == FAILED
    assert result.stderr == (
        f"dbprof-bpf: cannot open the store {missing}: No such file or directory\n"
    )
    assert not missing.exists()

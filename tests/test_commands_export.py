# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The list of commands, and `export`: where its output goes."""

import os
import subprocess

import pytest
from harness import COMPLETE, FAILED, PROGRAM, USAGE, run_into
from profile_files import as_json, check_refused, run, small_profile

COMMANDS = ["export", "merge", "report", "layout", "help"]


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "slow.v2.json"
    path.write_bytes(as_json(small_profile()))
    return path


def test_help_lists_the_commands():
    for arguments in (["help"], ["--help"], ["help", "help"]):
        done = run(*arguments)
        assert done.returncode == COMPLETE and done.stderr == b""
        for name in COMMANDS:
            assert f"\n  {name} ".encode() in done.stdout


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "help"])
def test_help_of_a_command(name):
    """`help NAME` and `NAME --help` are the same, with an example."""
    done = run(name, "--help")
    assert done.returncode == COMPLETE and done.stderr == b""
    assert f"Usage: dbprof-bpf {name} ".encode() in done.stdout
    assert b"Example" in done.stdout and f"  dbprof-bpf {name} ".encode() in done.stdout
    assert run("help", name).stdout == done.stdout


def test_help_of_no_command():
    done = run("help", "nonsense")
    assert done.returncode == USAGE and b"nonsense" in done.stderr


@pytest.mark.parametrize(
    "arguments,says",
    [
        (["export"], "which profile"),
        (["export", "a.json"], "which format"),
        (["export", "a.json", "b.json", "-f", "json"], "one profile at a time"),
        (["export", "a.json", "-f", "nonsense"], "there is: json"),
        (["export", "a.json", "-f", "json", "-o", ""], "a file name"),
        (["export", "a.json", "-f", "json", "--first-worker", "-1"], "a number"),
        (["merge", "a.json", "-o", "c.json"], "Two or more"),
        (["merge", "a.json", "b.json"], "where to"),
        (["merge", "-", "-", "-o", "c.json"], "read once"),
        (["merge", "a.json", "b.json", "-o", "c.json", "--offset", "0"], "each of the 2"),
        (["merge", "a.json", "b.json", "-o", "c.json", "--offset", "0,x"], "0,x"),
        (["merge", "a.json", "b.json", "-o", "c.json", "--offset", "0,"], "numbers"),
        (["report"], "which profile"),
        (["report", "a.json", "b.json"], "one profile at a time"),
        (["report", "a.json", "--metric", "a", "--total", "b"], "at a time"),
        (["report", "a.json", "--as", "bytes"], "--total"),
        (["report", "a.json", "--metric", "a", "--as", "count"], "--total"),
        (["report", "a.json", "--total", "a", "--as", "seconds"], "seconds"),
        (["report", "a.json", "--node", "4"], "nn4_n2"),
        (["report", "a.json", "--worker", "x"], "'x'"),
        (["report", "a.json", "--json"], "--json"),
    ],
)
def test_wrong_usage(arguments, says, tmp_path):
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == USAGE and done.stdout == b""
    assert says in " ".join(done.stderr.decode().split())
    assert os.listdir(tmp_path) == []


def test_output(profile, tmp_path):
    output = tmp_path / "out.json"
    assert run("export", profile, "-f", "json", "-o", output).returncode == COMPLETE
    assert output.read_bytes() == profile.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["out.json", "slow.v2.json"]


def test_default_name(profile, tmp_path):
    """The extension is replaced, both that of a package and that in it."""
    data = profile.read_bytes()
    done = run("export", profile, "-f", "json")
    check_refused(done, "--output", profile)
    assert profile.read_bytes() == data
    folder = tmp_path / "other.d"
    folder.mkdir()
    for name, wanted in (("a.zip", "a.json"), ("b", "b.json"), ("c.x.gz", "c.json")):
        (folder / name).write_bytes(data)
        assert run("export", folder / name, "-f", "json").returncode == COMPLETE
        assert (folder / wanted).read_bytes() == data


def test_default_name_of_standard_input(profile, tmp_path):
    done = run("export", "-", "-f", "json", input=profile.read_bytes(), cwd=tmp_path)
    assert done.returncode == COMPLETE, done.stderr
    assert (tmp_path / "profile.json").read_bytes() == profile.read_bytes()


def test_in_place(profile):
    data = profile.read_bytes()
    profile.write_bytes(data.replace(b",", b" , "))
    assert run("export", profile, "-f", "json", "-o", profile).returncode == COMPLETE
    assert profile.read_bytes() == data


def test_output_that_cannot_be_written(profile, tmp_path):
    check_refused(run("export", profile, "-f", "json", "-o", tmp_path), "directory")
    check_refused(run("export", profile, "-f", "json", "-o", "/dev/full"), "/dev/full", "space")
    check_refused(run("export", profile, "-f", "json", "-o", tmp_path / "no" / "x"), "No such file")
    assert os.listdir(tmp_path) == [profile.name]


@pytest.mark.parametrize("command", [["export", "-f", "json", "-o", "-"], ["report"], ["help"]])
def test_full_standard_output(profile, command):
    name, *options = command
    arguments = [name] if name == "help" else [name, profile, *options]
    with open("/dev/full", "w") as full:
        done = run_into(full, *arguments)
    assert done.returncode == FAILED
    [sentence] = done.stderr.splitlines()
    assert "space" in sentence


def test_no_room_for_a_copy(profile, tmp_path):
    """What is read once needs a temporary folder."""
    environment = {**os.environ, "TMPDIR": str(tmp_path / "missing")}
    with open(profile, "rb") as file:
        done = subprocess.run(
            [PROGRAM, "report", "-"], stdin=file, capture_output=True, env=environment, timeout=60
        )
    assert done.returncode == FAILED and b"set TMPDIR" in done.stderr

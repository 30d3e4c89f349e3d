# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Completion for bash against what the program itself says of its commands and options."""

import re
import subprocess

import pytest
from harness import PROGRAM, TOP

COMMANDS = ["record", "report", "diff", "export", "merge", "serve", "check", "layout", "help"]
SCRIPT = TOP / "tools" / "completion" / "dbprof-bpf.bash"
ASK = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_dbprof_bpf
printf '%s\n' "${COMPREPLY[@]}"
"""


def complete(*words, cwd=None):
    """What bash offers for the last of the words."""
    result = subprocess.run(
        ["bash", "-c", ASK, "bash", SCRIPT, "dbprof-bpf", *words],
        capture_output=True, text=True, timeout=30, cwd=cwd,
    )  # fmt: skip
    assert result.returncode == 0 and not result.stderr, result.stderr
    return sorted(set(result.stdout.split()))


def ask(*arguments):
    return subprocess.check_output([PROGRAM, *arguments], text=True)


def options(help_text):
    """Long and short ones, by the columns in which argp prints them."""
    found = set()
    for line in help_text.splitlines():
        match = re.match(r"  (-\S), +(--[a-z-]+)|      (--[a-z-]+)|  (-\S)$", line)
        if match:
            found |= {word for word in match.groups() if word}
    assert "--help" in found
    return sorted(found)


def test_commands():
    listed = ask("help").partition("Commands:\n")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)) == sorted(COMMANDS)
    assert complete("") == sorted(COMMANDS)
    assert complete("re") == ["record", "report"]
    assert complete("help", "") == sorted(COMMANDS)


@pytest.mark.parametrize("command", ["", *COMMANDS[:-1]])
def test_options(command):
    """No more and no less than --help says."""
    words = [command] if command else []
    wanted = options(ask(*words, "--help"))
    assert complete(*words, "-") == wanted
    assert complete(*words, "--") == [word for word in wanted if word.startswith("--")]
    assert complete(*words, "--he") == ["--help"]


def choices(option):
    """What the program says that an option takes."""
    result = subprocess.run(
        [PROGRAM, "--pid", "1", option, "nothing"], capture_output=True, text=True, timeout=30
    )
    said = re.search(r"(?:takes|there is:) (.*?)(?:, not '|$)", result.stderr, re.MULTILINE)
    return sorted(re.split(", | or ", said[1]))


@pytest.mark.parametrize("option", ["--format", "--mode", "--uprobes", "--steps"])
def test_choices(option):
    assert complete(option, "") == choices(option)
    assert complete("record", option, "=", "") == choices(option)


def test_files(tmp_path):
    for name in ("a.dbprof", "a.json", "b.json"):
        (tmp_path / name).touch()
    assert complete("report", "a", cwd=tmp_path) == ["a.dbprof", "a.json"]
    assert complete("diff", "a.dbprof", "", cwd=tmp_path) == ["a.dbprof", "a.json", "b.json"]
    assert complete("--output", "b", cwd=tmp_path) == ["b.json"]
    assert complete("--", "b", cwd=tmp_path) == ["b.json"]
    assert complete("--worker", "", cwd=tmp_path) == []


def test_pids(lab):
    """Programs that have a worker thread are offered, others are not."""
    target = lab.target("idle", workers=1)
    offered = complete("--pid", "")
    assert str(target.pid) in offered and "1" not in offered
    assert complete("--pid", str(target.pid)) == [str(target.pid)]


def test_installed(tmp_path):
    """Where bash-completion looks for it; nothing is built for that."""
    said = subprocess.check_output(
        ["make", "-n", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr"], cwd=TOP, text=True
    )
    assert f"{tmp_path}/usr/share/bash-completion/completions/dbprof-bpf" in said

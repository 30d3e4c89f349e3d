# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The confinement that a systemd unit asks for, where systemd does not run."""

import json
import subprocess

HIDEPID = {"default": "off", "noaccess": "1", "invisible": "2", "ptraceable": "4"}

# Mounts as the unit's: its /proc, nothing in the folders of users, all else read-only.
MOUNTS = """
set -e
mount -t proc -o hidepid=$1,subset=$2 proc /proc
for folder in /home /root /run/user; do
    [ ! -d $folder ] || mount -t tmpfs -o mode=000 none $folder
done
mount -t tmpfs none /var/tmp
mount -o remount,bind,ro /sys
[ -z "$3" ] || mount --bind "$3" "$3"
mount -o remount,bind,ro /
mount -t tmpfs none /tmp
cd /
shift 3
exec "$@"
"""

# Allows the calls of argv[1] and, as MemoryDenyWriteExecute, no memory that was written to be run.
FILTER = """
import json, os, sys
from errno import EPERM
from seccomp import ALLOW, Arg, ERRNO, MASKED_EQ, SyscallFilter, resolve_syscall, Arch
WRITE, EXEC = 2, 4
rules = SyscallFilter(ERRNO(EPERM))
for name in json.loads(sys.argv[1]):
    if resolve_syscall(Arch(), name) < 0:
        continue  # of another architecture, or newer than the library
    if name == "mprotect":
        rules.add_rule(ALLOW, name, Arg(2, MASKED_EQ, EXEC, 0))
    elif name == "mmap":
        for both in (0, WRITE, EXEC):
            rules.add_rule(ALLOW, name, Arg(2, MASKED_EQ, WRITE | EXEC, both))
    elif name not in ("pkey_mprotect", "shmat"):
        rules.add_rule(ALLOW, name)
rules.load()
os.execve(int(sys.argv[2]), sys.argv[3:], os.environ)
"""


def read_unit(path):
    """{key: [values]} of the section Service."""
    settings, section = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line
        elif line and not line.startswith("#") and section == "[Service]":
            key, _, value = line.partition("=")
            settings.setdefault(key, []).append(value)
    return settings


def calls_of(group):
    """System calls of a group, and of those in it."""
    text = subprocess.check_output(["systemd-analyze", "syscall-filter", group], text=True)
    found = set()
    for line in text.splitlines()[1:]:
        word = line.strip()
        if word.startswith("@"):
            found |= calls_of(word)
        elif word and not word.startswith("#"):
            found.add(word)
    return found


def allowed_calls(unit):
    """What the lines SystemCallFilter= add and take away, one after the other."""
    allowed = calls_of("@default")
    for line in unit["SystemCallFilter"]:
        words = line.removeprefix("~").split()
        calls = set().union(*(calls_of(word) if word[0] == "@" else {word} for word in words))
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    return sorted(allowed)


def capabilities(unit):
    """Names as setpriv knows them."""
    [line] = unit["AmbientCapabilities"]
    return [name.removeprefix("CAP_").lower() for name in line.split()]


def confined(unit, user, program, state=""):
    """
    Words to put before the arguments of `program`, which runs as `user` and as the unit says;
    `state` is the folder that it may write to.
    """
    listed = ",".join(f"+{name}" for name in capabilities(unit))
    hidepid, subset = HIDEPID[unit["ProtectProc"][0]], unit["ProcSubset"][0]
    assert subset == "pid", "MOUNTS knows no other"
    return [
        # The program lies where the unit's processes cannot look: it is opened before.
        "sh", "-c", 'exec 9<"$0"; exec "$@"', program,
        "unshare", "--mount", "sh", "-c", MOUNTS, "sh", hidepid, subset, state,
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs",
        f"--inh-caps={listed}", f"--ambient-caps={listed}", f"--bounding-set=-all,{listed}",
        "/usr/bin/python3", "-c", FILTER, json.dumps(allowed_calls(unit)), "9", "dbprof-bpf",
    ]  # fmt: skip

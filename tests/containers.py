# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Containers as the kernel makes them: PID, mount and user namespaces, chroot, overlay."""

import os
import signal
from pathlib import Path

from harness import PROGRAM, Profiler, Target, eventually, target_path

# A root of its own: the machine's, by an overlay whose upper layer is memory, and folders that are
# shared with the host.
OVERLAY = """
set -e
mount -t tmpfs none $1
mkdir $1/upper $1/work $1/root
mount -t overlay -o lowerdir=/,upperdir=$1/upper,workdir=$1/work overlay $1/root
mount -t proc proc $1/root/proc
top=$1/root
shift
for folder in /dev /sys "$@"; do
    mkdir -p $top$folder
    mount --rbind $folder $top$folder
done
exec chroot $top sh -c 'echo ready; exec sleep 1000'
"""


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def numbers(pid):
    """The ids of a process, from the host's namespace inwards."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return [int(word) for word in line.split()[1:]]
    raise AssertionError(f"/proc/{pid}/status has no NSpid")


def only_child(pid):
    """The child of a program that forks once and then waits for it."""
    [child] = eventually(lambda: children(pid), 20, f"process {pid} has forked")
    return child


class Inner:
    """What processes in a container have more: ids on the host and in their own namespace."""

    def find(self, forks):
        """Behind so many programs that fork and wait."""
        pid = self.popen.pid
        for _ in range(forks):
            pid = only_child(pid)
        self.host_pid = pid


class InnerTarget(Target, Inner):
    pass


class InnerProfiler(Profiler, Inner):
    def stop(self, timeout=60):
        os.kill(self.host_pid, signal.SIGINT)
        return self.wait(timeout)


class Container:
    """
    Nested PID namespaces, each with a /proc of its own, and in the innermost one a root of its own
    if that is wanted. They live as long as a process that sleeps there.
    """

    def __init__(self, lab, depth=1, within=None, overlay=False, user=False):
        self.lab = lab
        self.depth = depth + (within.depth if within else 0)
        command = [*within.prefix()] if within else []
        forks = depth + (1 if command else 0)
        for _ in range(depth):
            command += ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
            command += ["--user", "--map-root-user"] if user else []
        if overlay:
            root = lab.path(f"root-{len(lab.started)}")
            root.mkdir()
            shared = [lab.folder, lab.storage, PROGRAM.parent, target_path().parent]
            command += ["sh", "-c", OVERLAY, "sh", root, *shared]
        else:
            command += ["sh", "-c", "echo ready; exec sleep 1000"]
        self.process = lab.process(command)
        self.process.expect("stdout", "^ready$", 20)
        self.init = self.process.pid
        for _ in range(forks):
            self.init = only_child(self.init)

    @property
    def root(self):
        """Its root folder, as the host sees it."""
        return Path(f"/proc/{self.init}/root")

    def prefix(self):
        """Words before a command that runs in here: one program that forks and waits."""
        return ["nsenter", "--target", self.init, "--pid", "--mount", "--root", "--wd=/"]

    def inner(self, pid):
        """The number in here of a process of the host."""
        return numbers(pid)[self.depth]

    def target(self, scenario, program=None, **options):
        target = InnerTarget(
            scenario, environment=self.lab.environment, program=program, prefix=self.prefix(),
            **options,
        )  # fmt: skip
        target.find(forks=1)
        return self.lab.keep(target)

    def profiler(self, *arguments, **options):
        options = {"env": self.lab.environment, **options}
        profiler = InnerProfiler(*arguments, prefix=self.prefix(), **options)
        profiler.find(forks=1)
        return self.lab.keep(profiler)

    def run(self, *arguments, **options):
        return self.lab.run(*arguments, prefix=self.prefix(), **options)


class Host:
    """The same without a container."""

    depth = 0

    def prefix(self):
        return []

    def __init__(self, lab):
        self.lab = lab
        self.profiler, self.run = lab.profiler, lab.run

    def inner(self, pid):
        return pid

    def target(self, scenario, **options):
        target = self.lab.target(scenario, **options)
        target.host_pid = target.pid
        return target


def thread_numbers(pid, depth):
    """Ids of the threads of a process of the host, as a namespace of that depth numbers them."""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        folder = f"{pid}/task/{tid}"
        found[numbers(folder)[depth]] = Path(f"/proc/{folder}/comm").read_text().strip()
    return found

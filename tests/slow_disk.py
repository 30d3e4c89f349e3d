# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A file system that waits for its disk at each write, and a disk that is made slow."""

import os
import subprocess
import time
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
WRITES_A_SECOND = 200
TRIED = 40


class NotToBeHad(Exception):
    """What this machine lacks."""


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        raise NotToBeHad(f"{command[0]}: {result.stderr.strip()}")
    return result.stdout.strip()


class SlowDisk:
    """A loop device whose writes a cgroup limits; mounted so that each write waits for it."""

    def __init__(self, folder):
        self.image, self.folder = folder / "disk.img", folder / "disk"
        self.cgroup = self.device = None
        self.mounted = False
        try:
            self._make()
        except OSError as fault:
            self.close()
            raise NotToBeHad(str(fault)) from None
        except NotToBeHad:
            self.close()
            raise

    def _make(self):
        with open(self.image, "wb") as image:
            image.truncate(300 << 20)
        self.device = run("losetup", "--find", "--show", self.image)
        run("mkfs.ext4", "-q", "-F", self.device)
        self.folder.mkdir()
        run("mount", "-o", "sync", self.device, self.folder)
        self.mounted = True
        self.number = Path("/sys/block", Path(self.device).name, "dev").read_text().strip()

    def slow_down(self, pid):
        """Limits the writes of a process, and makes sure that they are slow."""
        try:
            if (CGROUPS / "blkio").exists():
                self._limit_all(WRITES_A_SECOND)
            else:
                self._limit_one(pid)
            took = self._time_writes()
        except OSError as fault:
            raise NotToBeHad(f"the disk cannot be slowed down: {fault}") from None
        if took < 0.5 * TRIED / WRITES_A_SECOND:
            raise NotToBeHad(f"{TRIED} writes to a slow disk took but {took:.3f} s")

    def _limit_all(self, rate):
        """Version 1: writes are those of the root group, whoever makes them."""
        file = CGROUPS / "blkio" / "blkio.throttle.write_iops_device"
        file.write_text(f"{self.number} {rate}")

    def _limit_one(self, pid):
        """Version 2."""
        (CGROUPS / "cgroup.subtree_control").write_text("+io")
        self.cgroup = CGROUPS / f"dbprof-test-{os.getpid()}"
        self.cgroup.mkdir()
        (self.cgroup / "io.max").write_text(f"{self.number} wiops={WRITES_A_SECOND}")
        (self.cgroup / "cgroup.procs").write_text(str(pid))

    def _time_writes(self):
        """By a process of the same group."""
        script = (
            'cat /proc/self/cgroup >/dev/null; [ -z "$1" ] || echo $$ >"$1/cgroup.procs"; '
            f'exec dd if=/dev/zero of="$2/try" bs=4k count={TRIED} status=none'
        )
        start = time.monotonic()
        run("sh", "-c", script, "sh", self.cgroup or "", self.folder)
        return time.monotonic() - start

    def close(self):
        if self.device and not self.cgroup and (CGROUPS / "blkio").exists():
            self._limit_all(0)
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)
        if self.device:
            subprocess.run(["losetup", "--detach", self.device], check=True)
        if self.cgroup:
            self.cgroup.rmdir()
        self.image.unlink(missing_ok=True)

"""Runs of the test pipeline under an observer, timed by the pipeline itself."""

import os
import re
import resource
import signal
import subprocess
import threading
import time

STEPS_LINE = re.compile(r"(\d+) steps in ([0-9.]+)(s|ms)")


class Pipeline:
    """A held test pipeline: `go` runs its steps and returns how long they took, in seconds."""

    def __init__(self, target, arguments):
        self.process = subprocess.Popen(
            [target, *arguments, "--hold"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.errors = []
        self.reader = threading.Thread(target=self._read_errors, daemon=True)
        self.reader.start()
        line = self.process.stdout.readline().split()
        if not line or line[0] != "ready":
            raise RuntimeError("the pipeline did not become ready: " + "".join(self.errors))
        self.pid = int(line[1])

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line)

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != "done":
            raise RuntimeError("the pipeline failed: " + "".join(self.errors))
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            found = STEPS_LINE.search("".join(self.errors))
            if found:
                return float(found[2]) / (1000 if found[3] == "ms" else 1)
            time.sleep(0.005)
        raise RuntimeError("the pipeline did not say how long it took")

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Tool:
    """An observer: started, waited for until it is attached, stopped by an interrupt."""

    def __init__(self, command, attached=None, settle=0.5, folder=None):
        self.before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=folder,
        )
        self.output = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        deadline = time.monotonic() + 20
        while attached and time.monotonic() < deadline:
            if any(attached in line for line in self.output):
                break
            if self.process.poll() is not None:
                raise RuntimeError(f"{command[0]} failed: " + "".join(self.output))
            time.sleep(0.01)
        if not attached:
            time.sleep(settle)
        if self.process.poll() is not None:
            raise RuntimeError(f"{command[0]} ended: " + "".join(self.output).strip())

    def _read(self):
        for line in self.process.stderr:
            self.output.append(line)

    def memory_kib(self):
        """Resident size of it and its children now, while it profiles."""
        total = 0
        for pid in [self.process.pid, *self._children()]:
            try:
                with open(f"/proc/{pid}/status") as status:
                    for line in status:
                        if line.startswith("VmRSS:"):
                            total += int(line.split()[1])
            except OSError:
                pass
        return total

    def _children(self):
        found = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True
        )
        return [int(pid) for pid in found.stdout.split()]

    def cpu_seconds(self):
        """CPU time so far of it and its living children."""
        ticks = 0
        for pid in [self.process.pid, *self._children()]:
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                    ticks += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGINT)
            self.process.wait(30)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def timed_run(target, arguments, tool=None):
    """One run. `tool` makes a Tool for a pid. Returns seconds, the tool's CPU seconds and KiB."""
    pipeline = Pipeline(target, arguments)
    observer = None
    try:
        observer = tool(pipeline.pid) if tool else None
        before = observer.cpu_seconds() if observer else 0
        seconds = pipeline.go()
        cpu = observer.cpu_seconds() - before if observer else 0
        memory = observer.memory_kib() if observer else 0
        return seconds, cpu, memory
    finally:
        if observer:
            observer.end()
        pipeline.end()

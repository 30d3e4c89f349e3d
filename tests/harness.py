# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Starts targets and profilers, and gives both profilers the same window."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("DBPROF_PROGRAM", TOP / "build" / "dbprof-bpf"))
SANITIZED = TOP / "build" / "sanitized" / "dbprof-bpf"

COMPLETE, FAILED, USAGE, INCOMPLETE = 0, 1, 2, 3

# A finding of the sanitizers must not look like one of the program's own exit statuses.
ENVIRONMENT = {
    **os.environ,
    "ASAN_OPTIONS": "exitcode=99",
    "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1",
    "NO_COLOR": "1",
}

# One line for each process attached to: the window is open from here on.
ATTACHED = re.compile(r"attached to (\d+) in ([0-9.]+) ms\b")


def target_path(profile="release"):
    """Where tools/target.sh puts the test pipeline."""
    command = [TOP / "tools" / "target.sh", "--print", profile]
    return Path(subprocess.check_output(command, text=True).strip())


def eventually(condition, timeout, what):
    """Waits until `condition()` is true and returns what it returned."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, f"after {timeout} s still not so: {what}"
        time.sleep(0.02)


class Process:
    """A child whose two outputs are collected line by line."""

    def __init__(self, command, **options):
        self.popen = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **{"env": ENVIRONMENT, **options},
        )
        self.pid = self.popen.pid
        self.lines = {"stdout": [], "stderr": []}
        self._news = threading.Condition()
        self._readers = [
            threading.Thread(target=self._read, args=(name,), daemon=True) for name in self.lines
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, name):
        for line in getattr(self.popen, name):
            with self._news:
                self.lines[name].append(line.rstrip("\n"))
                self._news.notify_all()

    @property
    def stdout(self):
        return "\n".join(self.lines["stdout"])

    @property
    def stderr(self):
        return "\n".join(self.lines["stderr"])

    def describe(self):
        return (
            f"{' '.join(map(str, self.popen.args))}\nexit status {self.popen.poll()}\n"
            f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
        )

    def expect(self, name, pattern, timeout, count=1):
        """The first `count` matches of `pattern` in an output; fails when they do not come."""
        pattern = re.compile(pattern)
        end = time.monotonic() + timeout
        with self._news:
            while True:
                found = [m for m in map(pattern.search, self.lines[name]) if m]
                if len(found) >= count:
                    return found[:count]
                ended = not any(reader.is_alive() for reader in self._readers)
                left = end - time.monotonic()
                assert left > 0 and not ended, f"no {pattern.pattern!r} from {self.describe()}"
                self._news.wait(min(left, 0.2))

    def wait(self, timeout):
        """The exit status."""
        try:
            status = self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not end within {timeout} s: {self.describe()}") from None
        for reader in self._readers:
            reader.join(5)
        return status

    def say(self, text):
        self.popen.stdin.write(text)
        self.popen.stdin.flush()

    def alive(self):
        return self.popen.poll() is None

    def kill(self):
        if self.alive():
            self.popen.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


class Target(Process):
    """A dbsp-target that waits for `go()` before its first step."""

    def __init__(
        self, scenario, *, environment, program=None, builtin=None, hold=True, cpu=None, prefix=(),
        **options,
    ):  # fmt: skip
        command = [*prefix, program or target_path(), scenario]
        if cpu is not None:
            command = ["taskset", "--cpu-list", str(cpu), *command]
        for name, value in options.items():
            command += [f"--{name}", value]
        if builtin:
            command += ["--builtin", builtin]
        if hold:
            command += ["--hold"]
        self.builtin = builtin
        super().__init__(command, env=environment)
        if hold:
            [ready] = self.expect("stdout", r"^ready (\d+)$", 60)
            # Behind a prefix it may be another process, in a PID namespace of its own.
            assert prefix or int(ready[1]) == self.pid

    def go(self):
        self.say("\n")

    def wait_done(self, timeout=120):
        """Waits for the end of the steps and returns how many seconds they took."""
        self.expect("stdout", r"^done$", timeout)
        return self.seconds()

    def seconds(self):
        [took] = self.expect("stderr", r"^\d+ steps in ([0-9.]+)(ns|µs|ms|s)$", 10)
        return float(took[1]) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[took[2]]

    def finish(self):
        """Ends the input, upon which the program must leave of its own accord."""
        self.popen.stdin.close()
        assert self.wait(60) == 0, self.describe()

    def builtin_profile(self):
        return json.loads(Path(self.builtin).read_text())


class Profiler(Process):
    """A running dbprof-bpf, always with -v, which says when the window is open."""

    def __init__(self, *arguments, program=None, prefix=(), **options):
        super().__init__([*prefix, program or PROGRAM, "-v", *arguments], **options)

    def wait_attached(self, count=1, timeout=60):
        """Milliseconds from its start to the first data, by pid."""
        found = self.expect("stderr", ATTACHED, timeout, count)
        return {int(match[1]): float(match[2]) for match in found}

    def stop(self, timeout=60):
        """Ends the window as Ctrl-C does, and returns the exit status."""
        self.popen.send_signal(signal.SIGINT)
        return self.wait(timeout)


@dataclass
class Window:
    """What both profilers say of one window."""

    ours: dict
    builtin: dict
    status: int
    seconds: float
    profiler: Process
    files: tuple  # DBSP's and ours


class Lab:
    """Owns a folder and all processes of one test (or of one module's shared windows)."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.started = []
        # Pipelines that are killed leave what they have spilled to disk.
        self.storage = public_folder()
        self.storage.chmod(0o777)
        self.environment = {**ENVIRONMENT, "TMPDIR": str(self.storage)}

    def path(self, name):
        return self.folder / name

    def keep(self, process):
        self.started.append(process)
        return process

    def target(self, scenario, **options):
        return self.keep(Target(scenario, environment=self.environment, **options))

    def profiler(self, *arguments, **options):
        return self.keep(Profiler(*arguments, **{"env": self.environment, **options}))

    def process(self, command, **options):
        return self.keep(Process(command, **{"env": self.environment, **options}))

    def run(self, *arguments, program=None, prefix=(), timeout=60, **options):
        """Runs dbprof-bpf to its end."""
        process = self.process([*prefix, program or PROGRAM, *arguments], **options)
        process.wait(timeout)
        return process

    def profile_steps(self, target, *arguments, status=COMPLETE):
        """Profiles all steps of a target that is held; returns the profile and the profiler."""
        output = self.path("ours.json")
        profiler = self.profiler("--pid", target.pid, "--output", output, *arguments)
        profiler.wait_attached()
        target.go()
        target.wait_done()
        assert profiler.stop() == status, profiler.describe()
        return json.loads(output.read_text()), profiler

    def both(
        self, scenario, *, profiler=(), program=None, environment=None, target_program=None,
        timeout=120, **options,
    ):  # fmt: skip
        """Profiles all steps of a scenario with both profilers."""
        number = len(self.started)
        builtin, output = self.path(f"builtin-{number}.json"), self.path(f"ours-{number}.json")
        target = self.target(scenario, builtin=builtin, program=target_program, **options)
        ours = self.profiler(
            "--pid", target.pid, "--output", output, *profiler,
            program=program, env=environment or self.environment,
        )  # fmt: skip
        ours.wait_attached()
        target.go()
        seconds = target.wait_done(timeout)
        status = ours.stop()
        assert status in (COMPLETE, INCOMPLETE), ours.describe()
        target.finish()
        return Window(
            json.loads(output.read_text()), target.builtin_profile(), status, seconds, ours,
            (builtin, output),
        )  # fmt: skip

    def both_for(self, least_seconds, scenario, *, steps, **options):
        """The same with as many steps as `least_seconds` need on this machine."""
        for _ in range(4):
            window = self.both(scenario, steps=steps, **options)
            if window.seconds >= least_seconds:
                return window
            steps = int(steps * 1.3 * least_seconds / max(window.seconds, 0.01)) + 1
        raise AssertionError(f"{scenario} does not run for {least_seconds} s")

    def close(self):
        for process in self.started:
            process.kill()
        shutil.rmtree(self.storage, ignore_errors=True)


def run_into(stdout, *arguments, timeout=60):
    """Runs dbprof-bpf with a standard output that may not take what it writes."""
    return subprocess.run(
        [str(word) for word in (PROGRAM, *arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=timeout,
    )


def public_folder():
    """A folder that every user can read, outside of root's own; the caller removes it."""
    folder = Path(tempfile.mkdtemp(prefix="dbprof-test-"))
    folder.chmod(0o755)
    return folder


def public_copy(path, folder):
    """A copy that every user can run."""
    copy = folder / Path(path).name
    shutil.copy(path, copy)
    copy.chmod(0o755)
    return copy


def patched_copy(path, copy, replacements):
    """A copy of a file with byte strings replaced by others of the same length."""
    data = Path(path).read_bytes()
    for old, new in replacements.items():
        assert len(old) == len(new), (old, new)
        assert old in data, f"{path} holds no {old!r}"
        data = data.replace(old, new)
    copy.write_bytes(data)
    copy.chmod(0o755)
    return copy

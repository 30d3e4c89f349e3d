# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A running `dbprof-bpf serve`, and what it answers."""

import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path

from harness import PROGRAM, eventually

SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Served:
    """Starts the daemon on a port of the kernel's choice."""

    def __init__(self, lab, *arguments, interval="500ms", program=None, started=()):
        command = [*(started or [program or PROGRAM]), "serve", "--listen", "127.0.0.1:0"]
        self.process = lab.process([*command, "--interval", interval, *arguments])
        [listening] = self.process.expect("stderr", r"listening on (http\S+)$", 60)
        self.address = listening[1]
        self.pid = self.process.pid

    def get(self, path, timeout=60):
        """Status and body of an answer."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=timeout) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def json(self, path):
        status, body = self.get(path)
        assert status == 200, body
        return json.loads(body)

    def listed(self, pid):
        """What /v1/processes says of a process; None when it is not there."""
        for process in self.json("/v1/processes")["processes"]:
            if process["pid"] == pid:
                return process
        return None

    def wait_for(self, pid, state, timeout=20):
        def reached():
            process = self.listed(pid)
            return process if process and process["state"] == state else None

        return eventually(reached, timeout, f"process {pid} is {state}")

    def wait_gone(self, pid, timeout=20):
        def gone():
            process = self.listed(pid)
            return not process or process["state"] == "ended"

        eventually(gone, timeout, f"process {pid} is not profiled any more")

    def metrics(self):
        """All samples: {(name, {labels}): value} as a list."""
        status, body = self.get("/metrics")
        assert status == 200
        found = []
        for line in body.decode().splitlines():
            match = SAMPLE.match(line)
            if match:
                found.append((match[1], dict(LABEL.findall(match[2] or "")), float(match[3])))
        return found

    def value(self, name, **labels):
        """The sum of all samples with these labels."""
        return sum(
            value
            for found, has, value in self.metrics()
            if found == name and all(has.get(key) == str(word) for key, word in labels.items())
        )

    def resident_kib(self):
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+)", status, re.M)[1])

    def files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def maps(self):
        """Entries in use by map."""
        return {
            labels["map"]: value
            for name, labels, value in self.metrics()
            if name == "dbprof_profiler_map_entries"
        }

    def counts(self):
        """What must not grow."""
        return {
            **self.maps(),
            "links": self.value("dbprof_profiler_links"),
            "files": self.value("dbprof_profiler_open_files"),
        }

    def states(self):
        return [process["state"] for process in self.json("/v1/processes")["processes"]]

    def wait_settled(self, empty, timeout=20):
        """
        Until all is as it was without a pipeline. Where others than ours run on the host, what is
        profiled is what is in the maps.
        """

        def settled():
            states = [state for state in self.states() if state != "ended"]
            if states:
                return self.maps()["processes"] == states.count("profiled")
            return self.counts() == empty

        eventually(settled, timeout, f"{self.states()}, {self.counts()}, at first {empty}")

    def end(self):
        self.process.popen.terminate()
        return self.process.wait(10)

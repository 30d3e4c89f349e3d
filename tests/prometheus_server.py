# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's Prometheus, at work."""

import json
import socket
import urllib.parse
import urllib.request

from harness import eventually


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Prometheus:
    """Scrapes 127.0.0.1:`port` five times a second; returns when it has done so."""

    def __init__(self, lab, port):
        config = lab.path("prometheus.yml")
        config.write_text(
            "scrape_configs:\n- job_name: dbprof\n  scrape_interval: 200ms\n"
            "  scrape_timeout: 200ms\n"
            f"  static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
        )
        self.port = free_port()
        lab.process(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={lab.path('tsdb')}"]
            + [f"--web.listen-address=127.0.0.1:{self.port}"]
        )
        eventually(lambda: self.ask("up == 1"), 60, "Prometheus has scraped the metrics")

    def ask(self, query):
        """The result of a query; empty while there is none."""
        words = urllib.parse.urlencode({"query": query})
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.port}/api/v1/query?{words}", timeout=5
            ) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def number(self, query):
        """The only value of a query; None while there is none."""
        result = self.ask(query)
        return float(result[0]["value"][1]) if len(result) == 1 else None

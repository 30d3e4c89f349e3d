# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The HTML page, in a real browser."""

import json
import re
import time

import pytest
from browser import Browser
from harness import COMPLETE, PROGRAM, run_into
from html_page import details_of, graph_nodes, numbers_in, picture, quiet
from made_profile import duration, made_profile, region, simple
from profiles import nanos, reading, readings, value_of, workers

# What a page may not do, in a label.
SCRIPT = "</script><script>window.taken = 1</script>"
IMAGE = '<img src="http://127.0.0.1:9/x.png" onerror="window.taken = 2">'
COMMENT = "<!--<script>\"'`${window.taken = 3}&lt;\\u003c\u2028--> { } \x01"
MAINS = {
    "runtime": "runtime_seconds",
    "run_queue": "run_queue_seconds",
    "preempted": "preempted_seconds",
    "blocked": "blocked_seconds",
    "unobserved": "unobserved_seconds",
    "invocations": "invocations_count",
}


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def page(browser, tmp_path):
    """Writes a profile as a page, opens it, and gives the browser."""

    def opened(profile):
        source, html = tmp_path / "profile.json", tmp_path / "profile.html"
        source.write_text(json.dumps(profile))
        done = run_into(None, "export", source, "--format", "html", "--output", html)
        assert done.returncode == COMPLETE, done.stderr
        browser.open(html)
        return browser

    return opened


@pytest.fixture(params=["ours", "builtin"])
def profile(request, windows):
    """One window with a nested circuit, as we and as the engine wrote it."""
    return getattr(windows["nested"], request.param)


def main_of(profile, worker, node, main):
    found = readings(profile, worker, node, MAINS[main])
    return sum(found.values()) if found else None


def test_opens_without_error_or_request_and_draws_the_graph(page, profile):
    browser = page(profile)
    nodes = list(graph_nodes(profile["graph"]["nodes"]))
    drawn = browser.run("({...document.querySelector('#canvas').dataset})")
    assert int(drawn["operators"]) == sum(kind == "Simple" for kind, *_ in nodes) > 30
    assert int(drawn["clusters"]) == sum(kind == "Cluster" for kind, *_ in nodes) > 5
    around = {node: clusters for _, node, _, clusters in nodes}
    edges = {(edge["from_node"], edge["to_node"]) for edge in profile["graph"]["edges"]}
    shown = {(a, b) for a, b in edges if a not in around[b] and b not in around[a] and a != b}
    assert int(drawn["edges"]) == len(shown) > 30
    colours = browser.run(
        "new Set(new Uint32Array(document.querySelector('#canvas').getContext('2d')"
        ".getImageData(0, 0, 800, 600).data.buffer)).size"
    )
    assert colours > 50
    quiet(browser)


def test_the_policy_forbids_what_the_page_does_not_do(page, profile):
    browser = page(profile)
    for act in (
        "new Image().src = 'http://127.0.0.1:9/x.png'",
        "fetch('http://127.0.0.1:9/').catch(() => 0)",
        "document.body.append(Object.assign(document.createElement('script'), {text: '1'}))",
        "document.body.setAttribute('onclick', '1'), document.body.click()",
    ):
        refused = browser.run(
            "new Promise((done) => { addEventListener('securitypolicyviolation',"
            f" (event) => done(event.effectiveDirective), {{once: true}}); {act};"
            " setTimeout(() => done('nothing'), 5000) })"
        )
        assert re.fullmatch(r"(img|connect|script)-src(-elem|-attr)?", refused), act


def test_the_numbers_are_those_of_the_profile(page, profile):
    browser = page(profile)
    nodes = [
        (node, clusters)
        for kind, node, _, clusters in graph_nodes(profile["graph"]["nodes"])
        if kind == "Simple"
    ]
    for main in ("runtime", "invocations"):
        shown = browser.run(
            "[...document.querySelectorAll('#operator-rows tr')].map((row) => [row.dataset.node,"
            f" row.querySelector('[data-column={main}]').dataset.value ?? null])"
        )
        shown = {node: value if value is None else int(value) for node, value in shown}
        for node, _ in nodes:
            found = [main_of(profile, worker, node, main) for worker in workers(profile)]
            known = [number for number in found if number is not None]
            assert shown[node] == (sum(known) if known else None), (node, main)
    # The parts of a bar are the window.
    strips = [value for value, *_ in numbers_in(browser, ".chart:last-child .strip")]
    for worker in workers(profile):
        steps = reading(profile, worker, "n", "circuit_runtime_seconds")
        idle = reading(profile, worker, "n", "circuit_idle_time_seconds")
        edge = reading(profile, worker, "n", "circuit_edge_idle_seconds") or 0
        assert strips[worker] == steps + idle + edge
        if "dbprof" in profile:
            assert strips[worker] == nanos(profile["dbprof"]["window"]["length"])


def test_a_search_finds_an_operator_and_a_click_shows_its_numbers(page, profile):
    browser = page(profile)
    browser.run("document.querySelector('#graph').scrollIntoView()")
    browser.type("#search", "nn4_n16")
    assert browser.run("document.querySelector('#details code').textContent") == "nn4_n16"
    # It stands in the middle now; a click elsewhere and then on it.
    box = "document.querySelector('#canvas').getBoundingClientRect()"
    x, y, width, height = browser.run(f"(({{x, y, width, height}}) => [x, y, width, height])({box})")
    browser.type("#search", "")
    browser.run("document.querySelector('#canvas').focus()")
    browser.key("Escape")
    assert browser.run("document.querySelector('#details code')") is None
    browser.click(x + width / 2, y + height / 2)
    assert browser.run("document.querySelector('#details code').textContent") == "nn4_n16"
    mains, keys = details_of(browser)
    for main in MAINS:
        found = {str(w): main_of(profile, w, "nn4_n16", main) for w in workers(profile)}
        known = {w: number for w, number in found.items() if number is not None}
        shown = {w: number for (w, name), number in mains.items() if name == main}
        total = shown.pop("all", None)
        assert shown == known, main
        assert total == (sum(known.values()) if known else None), main
    for worker in workers(profile):
        for entry in profile["worker_profiles"][worker]["metadata"]["nn4_n16"]:
            if entry["value"].get("type") in ("duration", "count", "int", "bytes"):
                labels = ", ".join("=".join(pair) for pair in entry.get("labels", ()))
                key = entry["metric_id"] + (f" ({labels})" if labels else "")
                both = [
                    value_of(other)
                    for w in workers(profile)
                    for other in profile["worker_profiles"][w]["metadata"]["nn4_n16"]
                    if (other["metric_id"], other.get("labels")) ==
                    (entry["metric_id"], entry.get("labels"))
                ]  # fmt: skip
                assert int(keys[key]) == sum(both), key
    quiet(browser)


def test_the_table_sorts_and_filters(page, profile):
    browser = page(profile)

    def column(name):
        return [value for value, *_ in numbers_in(browser, f"[data-column={name}]:is(td)")]

    assert column("runtime") == sorted(column("runtime"), reverse=True)
    browser.click_on("th[data-column=invocations] button")
    assert column("invocations") == sorted(column("invocations"), reverse=True)
    browser.click_on("th[data-column=invocations] button")
    assert column("invocations") == sorted(column("invocations"))
    assert len(set(column("invocations"))) > 1
    sorted_by = "[...document.querySelectorAll('th[aria-sort=ascending]')]"
    assert browser.run(f"{sorted_by}.map((e) => e.dataset.column)") == ["invocations"]
    ids = "[...document.querySelectorAll('#operator-rows tr')].map((row) => row.dataset.node)"
    browser.click_on("th[data-column=id] button")
    assert browser.run(ids)[:4] == ["nn0", "nn1", "nn2", "nn3"]
    browser.type("#filter", "jointrace")
    expected = [
        node
        for kind, node, label, _ in graph_nodes(profile["graph"]["nodes"])
        if kind == "Simple" and "JoinTrace" in label
    ]
    assert sorted(browser.run(ids)) == sorted(expected) != []
    browser.click_on("#operator-rows button")
    assert browser.run("document.querySelector('#details code').textContent") in expected


def test_the_graph_moves_closes_and_changes_colour(page, profile):
    browser = page(profile)
    browser.run("document.querySelector('#canvas').focus()")
    seen = [picture(browser)]
    for act in (
        lambda: browser.key("+"),
        lambda: browser.key("ArrowDown"),
        lambda: browser.click_on("#zoom-out"),
        lambda: browser.run(
            "document.querySelector('#canvas').dispatchEvent("
            "new WheelEvent('wheel', {deltaY: -300, cancelable: true}))"
        ),
    ):
        act()
        seen.append(picture(browser))
        assert seen[-1] != seen[-2]
    browser.run("document.querySelector('#canvas').focus()")
    browser.key("0")
    browser.run(
        "(() => { const s = document.querySelector('#metric');"
        " s.value = [...s.options].find((o) => o.text === 'evaluations').value;"
        " s.dispatchEvent(new Event('change')) })()"
    )
    assert picture(browser) != seen[0]
    most = max(
        sum(main_of(profile, w, node, "invocations") or 0 for w in workers(profile))
        for kind, node, *_ in graph_nodes(profile["graph"]["nodes"])
        if kind == "Simple"
    )
    shown = browser.run("document.querySelector('#scale-most').textContent")
    assert int(re.sub(r"\D", "", shown)) == most
    browser.click_on("#close-all")
    closed = int(browser.run("document.querySelector('#canvas').dataset.operators"))
    # What the root holds outside of circuits and regions.
    assert closed == sum("Simple" in node for node in profile["graph"]["nodes"]["nodes"])
    browser.type("#search", "nn4_n16")
    assert int(browser.run("document.querySelector('#canvas').dataset.operators")) > closed
    assert browser.run("document.querySelector('#details code').textContent") == "nn4_n16"
    quiet(browser)


def test_five_thousand_operators_are_usable(page):
    operators, chain = 5000, 100
    nodes = [simple(i, f"Map @ src/wide.rs:{i}:1") for i in range(operators)]
    edges = [(f"nn{i}", f"nn{i + 1}") for i in range(operators - 1) if (i + 1) % chain]
    worker_profiles = [
        {
            "metadata": {
                f"nn{i}": [{"metric_id": "runtime_seconds", "value": duration(i * 1000 + worker)}]
                for i in range(operators)
            }
        }
        for worker in range(4)
    ]
    begin = time.monotonic()
    browser = page(made_profile(nodes, edges, worker_profiles))
    assert time.monotonic() - begin < 5
    drawn = browser.run("({...document.querySelector('#canvas').dataset})")
    assert (int(drawn["operators"]), int(drawn["edges"])) == (operators, len(edges))
    browser.type("#search", "wide.rs:4321:")
    mains, _ = details_of(browser)
    assert mains["all", "runtime"] == 4 * 4321 * 1000 + 6
    assert browser.run("document.querySelectorAll('#operator-rows tr').length") == 100
    browser.click_on("#all-rows")
    assert browser.run("document.querySelectorAll('#operator-rows tr').length") == operators
    quiet(browser)


def test_large_graphs_begin_closed_and_open_for_what_is_sought(page):
    regions, size = 60, 10
    nodes = [
        region(r, f"region {r}", [simple(r * size + i, "Map") for i in range(size)])
        for r in range(regions)
    ]
    edges = [(f"nn{i}", f"nn{i + 1}") for i in range(regions * size - 1)]
    times = {
        f"nn{i}": [{"metric_id": "runtime_seconds", "value": duration(1000)}]
        for i in range(regions * size)
    }
    browser = page(made_profile(nodes, edges, [{"metadata": times}]))
    canvas = "document.querySelector('#canvas')"
    drawn = browser.run(f"({{...{canvas}.dataset}})")
    assert (drawn["operators"], drawn["edges"]) == ("0", str(regions - 1))
    # A region shows what is in it, all together.
    assert browser.run("document.querySelector('#scale-most').textContent") == "10.0 µs"
    browser.type("#search", "nn57")
    assert browser.run(f"{canvas}.dataset.operators") == str(size)
    assert browser.run("document.querySelector('#details code').textContent") == "nn57"
    browser.run(f"{canvas}.focus()")
    browser.key("ArrowDown", shift=True)
    assert browser.run("document.querySelector('#details code').textContent") == "nn58"
    browser.click_on("#open-all")
    assert browser.run(f"{canvas}.dataset.operators") == str(regions * size)
    quiet(browser)


def test_hostile_text_is_only_text(page):
    nodes = [
        simple(0, SCRIPT),
        simple(1, IMAGE),
        simple(2, COMMENT),
        region(0, IMAGE + SCRIPT, [simple(3, "__proto__")]),
    ]
    metadata = {
        "n": [
            {"metric_id": "circuit_runtime_seconds", "value": duration(5)},
            {
                "metric_id": "circuit_wait_by_reason_seconds",
                "labels": [["reason", IMAGE]],
                "value": duration(4),
            },
        ],
        **{
            f"nn{i}": [
                {"metric_id": "runtime_seconds", "value": duration(10 + i)},
                {"metric_id": SCRIPT, "labels": [[IMAGE, SCRIPT]], "value": duration(i)},
                {"metric_id": "constructor", "value": {IMAGE: {"type": "count", "value": 1}}},
            ]
            for i in range(4)
        },
    }
    about = {
        "host": IMAGE,
        "executable": f"/bin/{IMAGE}",
        "mode": "constructor",
        "window": {"start": SCRIPT, "length": 7},
        "complete": False,
        "lost": {SCRIPT: 3},
        "open_steps": [{"worker": IMAGE, "age": {"secs": 9, "nanos": 0}, "reason": SCRIPT}],
        "cost": {"share": SCRIPT, "dropped": IMAGE},
        "graph": {"differs_in_workers": IMAGE},
        "workers": 5,
    }
    described = {"name": SCRIPT, "category": IMAGE, "advanced": False, "description": SCRIPT}
    hostile = made_profile(nodes, [("nn0", "nn1")], [{"metadata": metadata}], dbprof=about)
    browser = page({**hostile, "metrics": [described]})
    labels = browser.run(
        "[...document.querySelectorAll('#operator-rows td.text')].map((e) => e.textContent)"
    )
    assert sorted(labels) == sorted([SCRIPT, IMAGE, COMMENT, "__proto__"])
    for text in (SCRIPT, IMAGE, "nn3"):
        browser.type("#search", text)
        assert browser.run("document.querySelector('#details code') !== null")
        assert SCRIPT in browser.run("document.querySelector('#details').textContent").replace(
            "\u200b", ""
        )
    assert SCRIPT in browser.run("document.querySelector('#gaps').textContent")
    assert IMAGE in browser.run("document.querySelector('#facts').textContent")
    assert browser.run("document.querySelectorAll('script').length") == 2
    assert browser.run("document.querySelectorAll('img, iframe, object, link').length") == 0
    assert browser.run("typeof window.taken") == "undefined"
    quiet(browser)


@pytest.mark.parametrize(
    "profile",
    [
        made_profile([]),
        made_profile([simple(0, "alone")], [("nn0", "nn0")]),
        made_profile([simple(0, "a"), simple(1, "b")], [("nn0", "nn1"), ("nn1", "nn0")]),
        {"worker_profiles": [{"metadata": {}}], "graph": made_profile([])["graph"]},
    ],
    ids=["no worker", "a loop", "a cycle", "a worker without numbers"],
)  # fmt: skip
def test_little_to_show_is_shown(page, profile):
    browser = page(profile)
    expected = len(profile["graph"]["nodes"]["nodes"])
    assert browser.run("document.querySelectorAll('#operator-rows tr').length") == expected
    assert browser.run("document.querySelector('#broken').hidden")
    quiet(browser)


def test_a_running_pipeline_as_a_page(lab, browser):
    target = lab.target("join", workers=2, steps=1_000_000)
    target.go()
    html = lab.path("live.html")
    run = lab.run(
        "--pid", target.pid, "--duration", "1s", "--mode", "exact",
        "--format", "html", "--output", html, program=PROGRAM,
    )  # fmt: skip
    assert run.popen.returncode == COMPLETE, run.describe()
    browser.open(html)
    facts = browser.run("document.querySelector('#facts').textContent")
    assert f"pid {target.pid}" in facts and "exact: operators by a probe" in facts
    assert browser.run("document.querySelector('#program').textContent") == "dbsp-target"
    assert browser.run("document.querySelectorAll('.chart').length") == 2
    # What stands out is what the terminal says of the same window.
    said = " ".join(run.stdout.split())
    findings = browser.run("[...document.querySelectorAll('#findings li')].map((e) => e.textContent)")
    told = [text for text in findings[:3] if text.startswith("Workers")]
    assert told and all(text in said for text in told), (told, said)
    # Both ways to look at a worker's time come to the same window.
    sums = [value for value, *_ in numbers_in(browser, ".chart:last-child .strip")]
    assert len(sums) == 2 and len(set(sums)) == 1
    quiet(browser)

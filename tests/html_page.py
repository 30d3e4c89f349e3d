# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a page that is open in a browser shows, and what a profile's graph holds."""

import json


def graph_nodes(cluster, around=()):
    """(kind, id, label, enclosing clusters) of all nodes, the root first."""
    yield "Cluster", cluster["id"], cluster["label"], around
    for child in cluster["nodes"]:
        [[kind, node]] = child.items()
        if kind == "Simple":
            yield kind, node["id"], node["label"], (*around, cluster["id"])
        else:
            yield from graph_nodes(node, (*around, cluster["id"]))


def numbers_in(browser, selector, *names):
    """data-value of the elements that match, as whole numbers, with other attributes of them."""
    read = ", ".join(f"e.getAttribute({json.dumps(name)})" for name in ("data-value", *names))
    found = browser.run(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => [{read}])"
    )
    return [(value if value is None else int(float(value)), *rest) for value, *rest in found]


def details_of(browser):
    """The numbers of the selected node: {(worker, main metric): number}, {reading: number}."""
    mains = browser.run(
        "[...document.querySelectorAll('#details [data-main]')].map((e) =>"
        " [e.parentNode.dataset.worker, e.dataset.main, e.dataset.value])"
    )
    keys = browser.run(
        "[...document.querySelectorAll('#details [data-key]')].map((e) =>"
        " [e.dataset.key, e.lastChild.dataset.value])"
    )
    known = {(worker, main): int(value) for worker, main, value in mains if value is not None}
    return known, dict(keys)


def picture(browser):
    browser.settle()
    return browser.run("document.querySelector('#canvas').toDataURL()")


def quiet(browser):
    browser.settle()
    assert browser.complaints() == []
    assert browser.requests() == []

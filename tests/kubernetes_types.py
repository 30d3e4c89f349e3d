# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks Kubernetes objects field by field against the API types of the Python client."""

import re

from kubernetes import client

KINDS = {("v1", "Namespace"): "V1Namespace", ("apps/v1", "DaemonSet"): "V1DaemonSet"}
PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float)}


def check_object(value):
    """Raises ValueError that says which field is wrong; `value` is what a manifest holds."""
    kind = KINDS.get((value.get("apiVersion"), value.get("kind")))
    if not kind:
        raise ValueError(f"unknown kind {value.get('apiVersion')} {value.get('kind')}")
    check(kind, value, value["kind"])


def check(kind, value, path):
    """Returns the value as the client's type `kind` wants it."""
    if listed := re.fullmatch(r"list\[(.+)\]", kind):
        if not isinstance(value, list):
            raise ValueError(f"{path} is no list")
        return [check(listed[1], each, f"{path}[{i}]") for i, each in enumerate(value)]
    if mapped := re.fullmatch(r"dict\(str, (.+)\)", kind):
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ValueError(f"{path} is no map")
        return {key: check(mapped[1], each, f"{path}.{key}") for key, each in value.items()}
    if kind == "object":  # a number or a text, as in maxUnavailable
        return value
    if kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or isinstance(value, bool) != (kind == "bool"):
            raise ValueError(f"{path} is no {kind}: {value!r}")
        return value
    return check_fields(getattr(client, kind), value, path)


def check_fields(model, value, path):
    if not isinstance(value, dict):
        raise ValueError(f"{path} is no object")
    names = {key: name for name, key in model.attribute_map.items()}
    if unknown := set(value) - set(names):
        raise ValueError(f"{path} has no field {', '.join(sorted(unknown))}")
    fields = {
        names[key]: check(model.openapi_types[names[key]], each, f"{path}.{key}")
        for key, each in value.items()
    }
    try:
        return model(**fields)  # which misses required fields
    except ValueError as fault:
        raise ValueError(f"{path}: {fault}") from None

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The layer check finds what it is there for."""

import subprocess

import pytest
from harness import TOP


def check_layers(folder):
    return subprocess.run(
        [TOP / "tools" / "layers"], cwd=folder, capture_output=True, text=True, timeout=30
    )


@pytest.mark.parametrize(
    "path, include, fault",
    [
        ("user/util/text.c", "engine/engine.h", "util/ comes before engine/"),
        ("user/model/model.c", "export/export.h", "model/ comes before export/"),
        ("user/layout/layout.c", "bpf/dbprof.h", "from plan/ on"),
        ("user/export/json.c", "text.h", "folder of user/"),
        ("user/export/json.c", "util/absent.h", "does not exist"),
        ("user/extra/more.c", "util/text.h", "not in one of the folders"),
    ],
)
def test_fault(tmp_path, path, include, fault):
    """One line, with the place."""
    for header in ("util/text.h", "engine/engine.h", "export/export.h"):
        (tmp_path / "user" / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "user" / header).write_text("")
    source = tmp_path / path
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f'#include <stdio.h>\n#include "{include}"\n')
    result = check_layers(tmp_path)
    assert result.returncode == 1
    [line] = result.stdout.splitlines()
    assert line.startswith(f"{path}:") and fault in line


def test_skeleton_in_one_file(tmp_path):
    for name in ("one", "two"):
        source = tmp_path / "user" / "session" / f"{name}.c"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text('#include "build/bpf/dbprof.skel.h"\n')
    result = check_layers(tmp_path)
    assert result.returncode == 1 and len(result.stdout.splitlines()) == 2


def test_the_project_is_in_order():
    result = check_layers(TOP)
    assert result.returncode == 0 and result.stdout == ""

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A minute of what `make soak` does for twenty."""

import pytest
from soak import Soak

SECONDS = 60


@pytest.mark.seconds(300)
def test_soak(lab):
    Soak(lab, "always the same").run(SECONDS)

"""How many random examples a run draws. FELTLINK_EXAMPLES=1000 makes a long night of it."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "feltlink",
    deadline=None,
    database=None,  # a run depends on nothing that an earlier one left behind
    print_blob=True,
    max_examples=int(os.environ.get("FELTLINK_EXAMPLES", "300")),
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("feltlink")

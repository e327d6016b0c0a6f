"""What runs in the container as `feltlink`, and where its things are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# The real daemon, on the simulated pins that the table file names.
PROGRAM: Final = "tests.nspawn.observed:main"

TABLE_FILE: Final = Path("/etc/feltlink/table.toml")
TABLE_TOML: Final = """
[table]
id = "T07"
[rules]
pack = "md-uth-a"
[ledger]
copy = "/srv/feltlink/table"
[hardware]
factory = "mock"
"""
MEDIUM: Final = Path("/medium")  # the second medium, as long as PLUGGED_IN exists
MOUNTED: Final = Path("/srv/feltlink")
PLUGGED_IN: Final = Path("/medium-plugged-in")
HOMES: Final = ("/root", "/home/dealer")
DATA: Final = Path("/var/lib/feltlink/table")
DISPLAY: Final = DATA / "display.txt"  # whether anything is lit on a display; empty once cleared

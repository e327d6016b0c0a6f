"""Command-line options whose mistakes are answered like all bad input: one sentence, status 2."""

from __future__ import annotations

import argparse
from typing import NoReturn

from controller.domain.errors import BadInput


class Parser(argparse.ArgumentParser):
    """argparse, except that it raises instead of printing its usage and leaving."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(f"{self.prog}: {message}; see {self.prog} --help")

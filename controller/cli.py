"""The one command, `feltlink`. Each subcommand is imported only when it is called for."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from controller.domain.errors import BadInput, Broken, Fault

COMMANDS = {
    "table": "run one table: the daemon under the felt",
    "selftest": "walk every sensor, lamp, key and display with a technician",
    "staff": "keep the file of those who may sign in",
    "play": "drive one simulated table from a script",
    "rules": "list the rule packs, show one, check a pack or table file",
    "evaluate": "name a hand, and the line it wins in a pack",
    "ledger": "verify or export a table's ledger",
}
USAGE = "usage: feltlink COMMAND ...\n\n" + "".join(
    f"  {name:<10} {what}\n" for name, what in COMMANDS.items()
)
COULD_NOT, BAD_INPUT, INTERRUPTED = 1, 2, 130


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand. Exit status: 0 good, 1 could not, 2 bad input."""
    words = sys.argv[1:] if argv is None else argv
    if not words:
        return _sorry(BAD_INPUT, f"a command is missing; known are {', '.join(COMMANDS)}.")
    if words[0] in ("-h", "--help", "help"):
        sys.stdout.write(f"{USAGE}\nfeltlink COMMAND --help says more.\n")
        return 0
    if words[0] == "--version":
        sys.stdout.write(f"feltlink {import_module('controller').VERSION}\n")
        return 0
    if words[0] not in COMMANDS:
        known = ", ".join(COMMANDS)
        return _sorry(BAD_INPUT, f"{words[0]!r} is not a command; known are {known}.")
    return _run(words[0], words[1:])


def _run(name: str, words: list[str]) -> int:
    gc.disable()  # loading makes much and drops nothing; looking for rubbish only costs time
    command = import_module(f"controller.commands.{name}")
    gc.enable()
    try:
        status: int = command.run(words)
        sys.stdout.flush()
    except BadInput as bad:
        return _sorry(BAD_INPUT, *bad.problems)
    except Fault as fault:
        return _sorry(COULD_NOT, str(fault))
    except Broken as broken:
        return _sorry(COULD_NOT, f"stopped, because a check of its own failed: {broken}.")
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left, as `head` does: no fault of ours and nothing to say.
        _close_output()
        return 0
    except OSError as error:
        _close_output()
        return _sorry(COULD_NOT, f"could not read or write: {error}; look at disk and output.")
    return status


def _close_output() -> None:
    """What cannot be written any more must not be tried again as the interpreter leaves."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sorry(status: int, *sentences: str) -> int:
    sys.stderr.write("".join(f"feltlink: {sentence}\n" for sentence in sentences))
    return status

"""The three ways a thing can go wrong, and the one way to state an invariant.

Refused  a rule said no: show the sentence, change nothing, carry on.
Fault    the world failed (disk, bus, broker): stop taking wagers and say what a person must do.
Broken   our own invariant is false: stop at once. Never caught below a process's main.
BadInput a file or command line cannot be used: every problem found in it, each one sentence.
"""


class Refused(Exception):
    """A rule said no. The message is one sentence for the dealer or the floor."""


class Fault(Exception):
    """The world failed. The message says what a technician must do."""


class Taken(Fault):
    """Another process has what this one wants; waiting would only hide a second daemon."""


class Broken(Exception):
    """An invariant of ours is false: nothing after this point can be trusted."""


class BadInput(Exception):
    """Text from a person cannot be used; `problems` lists all that is wrong with it."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def check(condition: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    """State an invariant. Unlike assert it survives `python -O`."""
    if not condition:
        raise Broken(what)

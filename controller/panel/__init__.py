"""The dealer's keypad: what its keys mean, page by page. It reads no clock and touches no pin."""

from controller.panel.actions import Action, CheckPin, Info, OpenNow, RunSelfTest, Say, VoidNow
from controller.panel.panel import Panel
from controller.panel.steps import DEFAULT_REASONS, KEYS

__all__ = [
    "DEFAULT_REASONS",
    "KEYS",
    "Action",
    "CheckPin",
    "Info",
    "OpenNow",
    "Panel",
    "RunSelfTest",
    "Say",
    "VoidNow",
]

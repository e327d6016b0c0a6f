"""The tree keeps its own rules: no float near money, nothing long, nothing stray, nothing dead.

Each rule is a function over parsed source, and each has a test that it can fail.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
DOMAINS: Final = ("controller/domain", "hub/domain")
PACKAGES: Final = tuple(
    sorted(
        folder.name
        for folder in ROOT.iterdir()
        if (folder / "__init__.py").is_file() and folder.name != "tests"
    )
)
FUNCTION_LINES_MAX: Final = 50
FILE_LINES_MAX: Final = 400
FORBIDDEN_IN_DOMAIN: Final = frozenset(
    {
        "asyncio",
        "datetime",
        "io",
        "logging",
        "os",
        "pathlib",
        "random",
        "socket",
        "sqlite3",
        "threading",
        "time",
    }
)
MAY_PRINT: Final = ("controller/commands/", "controller/cli.py")

Check = Callable[[ast.Module, str], Iterator[str]]


@cache
def sources() -> dict[str, str]:
    """Every module of ours by its path from the project's root."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }


def in_domain(path: str) -> bool:
    return path.startswith(DOMAINS)


def floats(tree: ast.Module, _text: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            yield f"line {node.lineno}: the float {node.value}"
        if isinstance(node, ast.Name) and node.id in ("float", "complex", "Decimal"):
            yield f"line {node.lineno}: {node.id}"
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            yield f"line {node.lineno}: the operator /"


def imported(tree: ast.Module) -> Iterator[str]:
    """Full names of the modules that a module names in its imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def world_imports(tree: ast.Module, _text: str) -> Iterator[str]:
    for name in imported(tree):
        if name.partition(".")[0] in FORBIDDEN_IN_DOMAIN:
            yield f"imports {name}"


def long_functions(tree: ast.Module, _text: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"{node.name} has {lines} lines"


def long_file(_tree: ast.Module, text: str) -> Iterator[str]:
    lines = len(text.splitlines())
    if lines > FILE_LINES_MAX:
        yield f"{lines} lines"


def asserts(tree: ast.Module, _text: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"line {node.lineno}: assert, which python -O removes"


def prints(tree: ast.Module, _text: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "print":
            yield f"line {node.lineno}: print"


def unfinished(_tree: ast.Module, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if re.search(r"\b(TODO|FIXME|XXX)\b", line):
            yield f"line {number}: {line.strip()}"


def found(check: Check, where: Callable[[str], bool] = lambda _path: True) -> list[str]:
    return [
        f"{path}: {problem}"
        for path, text in sources().items()
        if where(path)
        for problem in check(ast.parse(text), text)
    ]


def test_the_tree_is_really_read() -> None:
    assert set(PACKAGES) >= {"controller", "display", "firmware", "mock_gpio"}
    assert "controller/domain/money.py" in sources()
    assert sum(map(in_domain, sources())) >= 15


@pytest.mark.requirement(31)
def test_no_float_can_reach_money_because_the_domain_knows_none() -> None:
    assert found(floats, in_domain) == []


def test_the_domain_knows_no_clock_disk_thread_chance_or_log() -> None:
    assert found(world_imports, in_domain) == []


def test_the_domain_imports_nothing_of_ours_but_itself() -> None:
    strays = [
        f"{path}: {name}"
        for path, text in sources().items()
        if path.startswith("controller/domain")
        for name in imported(ast.parse(text))
        if name.partition(".")[0] in PACKAGES and not name.startswith("controller.domain")
    ]
    assert strays == []


@pytest.mark.parametrize("check", [long_functions, long_file, asserts, unfinished])
def test_no_module_breaks_the_rules_of_the_house(check: Check) -> None:
    assert found(check) == []


def test_only_commands_print() -> None:
    assert found(prints, lambda path: not path.startswith(MAY_PRINT)) == []


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (floats, "rate = 0.5"),
        (floats, "rate = float('0.5')"),
        (floats, "rate = 1 / 2"),
        (floats, "rate /= 2"),
        (floats, "def rate() -> float: ..."),
        (floats, "rate = 1j"),
        (world_imports, "import time"),
        (world_imports, "from os import path"),
        (world_imports, "def f():\n    import logging.handlers"),
        (long_functions, "def f():\n" + "    x = 1\n" * 50),
        (long_file, "x = 1\n" * 401),
        (asserts, "assert True"),
        (prints, "print('x')"),
        (unfinished, "x = 1  # TO" + "DO later"),
    ],
)
def test_each_rule_can_fail(check: Check, text: str) -> None:
    assert list(check(ast.parse(text), text))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (floats, "half = 1 // 2"),
        (world_imports, "from dataclasses import replace"),
        (long_functions, "def f():\n" + "    x = 1\n" * 49),
        (long_file, "x = 1\n" * 400),
    ],
)
def test_each_rule_can_be_kept(check: Check, text: str) -> None:
    assert list(check(ast.parse(text), text)) == []


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def entry_points() -> set[str]:
    """Modules that something outside Python calls by name, or `feltlink` when it is asked to."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    scripts = {target.partition(":")[0] for target in project["scripts"].values()}
    runnable = {module_name(p) for p, text in sources().items() if '__name__ == "__main__"' in text}
    commands = {name for name in map(module_name, sources()) if ".commands." in name}
    return scripts | runnable | commands


def dead_modules(texts: dict[str, str], entries: set[str]) -> list[str]:
    """Modules that nothing of ours imports. An __init__ lives with its package."""
    used = {
        name
        for path, text in texts.items()
        for name in imported(ast.parse(text))
        if name != module_name(path)
    }
    return [
        path
        for path in texts
        if not path.endswith("__init__.py") and module_name(path) not in used | entries
    ]


def test_no_module_is_dead() -> None:
    assert dead_modules(sources(), entry_points()) == []


def test_a_dead_module_would_be_found() -> None:
    texts = {
        "pit/__init__.py": "",
        "pit/main.py": "from pit import felt\n",
        "pit/felt.py": "",
        "pit/forgotten.py": "import pit.forgotten\n",
    }
    assert dead_modules(texts, {"pit.main"}) == ["pit/forgotten.py"]


def test_every_command_on_the_disk_is_offered() -> None:
    from controller.cli import COMMANDS

    on_disk = {name.rpartition(".")[2] for name in entry_points() if ".commands." in name}
    assert on_disk == set(COMMANDS)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_that_is_imported_is_ours(package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve().is_relative_to(ROOT)
    assert ".venv" not in Path(spec.origin).resolve().relative_to(ROOT).parts

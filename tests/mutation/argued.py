"""Arguments: why a mutant that no test notices changes nothing that anybody could notice."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.mutation.mutants import Mutant

PAGE = Path(__file__).with_name("argued.toml")


class Argued(NamedTuple):
    """A mutant by its text, which does not change when lines move.

    Attributes:
        module: the path of the module, as of a `Mutant`.
        code: the changed lines as they are.
        becomes: the changed lines with the change.
        why: why nobody could notice the change.
    """

    module: str
    code: str
    becomes: str
    why: str


class ArguedTable(NamedTuple):
    """A table of usual texts, every mutant of which is argued.

    Attributes:
        module: the path of the module, as of a `Mutant`.
        name: the name of the constant.
        why: why nobody could notice that the table has other members.
    """

    module: str
    name: str
    why: str

    def lines(self, source: bytes) -> range:
        """Return the numbers of the lines of the table in a module, or no numbers if the module does not have it."""
        for node in ast.parse(source).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(isinstance(target, ast.Name) and target.id == self.name for target in targets):
                return range(node.lineno, node.end_lineno + 1)
        return range(0)


@cache
def arguments() -> tuple[Argued, ...]:
    """Return every argument about a mutant of argued.toml."""
    return tuple(
        Argued(entry["module"], entry["code"].strip(), becomes.strip(), entry["why"])
        for entry in _read_list()["mutant"]
        for becomes in ([entry["becomes"]] if isinstance(entry["becomes"], str) else entry["becomes"])
    )


@cache
def tables() -> tuple[ArguedTable, ...]:
    """Return every argument about a table of argued.toml."""
    return tuple(ArguedTable(entry["module"], entry["name"], entry["why"]) for entry in _read_list()["table"])


def is_argued(mutant: Mutant) -> bool:
    """Return whether argued.toml has an argument for the mutant."""
    named = (mutant.module, mutant.code, mutant.becomes)
    return any((argued.module, argued.code, argued.becomes) == named for argued in arguments()) or any(
        mutant.line in table.lines(mutant.source) for table in tables() if table.module == mutant.module
    )


def _read_list() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(PAGE.read_text("utf-8"))

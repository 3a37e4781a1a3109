"""Arguments: why a mutant that no test notices changes nothing that anybody could notice."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.mutation.mutants import Mutant

PAGE = Path(__file__).with_name("argued.toml")


class Argued(NamedTuple):
    """A mutant by its text, which does not change when lines move.

    Attributes:
        module: the path of the module below `src/undersigned`.
        code: the changed lines as they are.
        becomes: the changed lines with the change.
        why: why nobody could notice the change.
    """

    module: str
    code: str
    becomes: str
    why: str


@cache
def arguments() -> tuple[Argued, ...]:
    """Return every argument of argued.toml."""
    listed = tomllib.loads(PAGE.read_text("utf-8"))["mutant"]
    return tuple(
        Argued(entry["module"], entry["code"].strip(), becomes.strip(), entry["why"])
        for entry in listed
        for becomes in ([entry["becomes"]] if isinstance(entry["becomes"], str) else entry["becomes"])
    )


def is_argued(mutant: Mutant) -> bool:
    """Return whether argued.toml has an argument for the mutant."""
    named = (mutant.module, mutant.code, mutant.becomes)
    return any((argued.module, argued.code, argued.becomes) == named for argued in arguments())

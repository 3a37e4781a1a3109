"""Checks of a rule's values: each raises ConfigurationError that names the option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, get_args

from undersigned.errors import ConfigurationError
from undersigned.message import tchar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

FIELD: Final = re.compile(rf"{tchar.LOWER}+")
"""The name of a header, in lower case."""


def check(option: str, holds: object, advice: str) -> None:
    """Check that a condition holds."""
    if not holds:
        raise ConfigurationError(f"{option}: {advice}")


def check_choice(option: str, value: object, literal: object) -> None:
    """Check that a value is one of the texts of a `Literal`."""
    values = get_args(literal)
    check(option, value in values, f"give one of {', '.join(sorted(values))}")


def check_seconds(option: str, seconds: int | None, least: int) -> None:
    """Check that a value is None or at least this many seconds."""
    check(option, seconds is None or seconds >= least, f"give whole seconds, at least {least}")


def check_texts(option: str, texts: Collection[str], valid: Callable[[str], object], *, example: str) -> None:
    """Check that an option is a tuple of texts, each of which is `valid`: a text alone would count as its letters."""
    are_valid = isinstance(texts, tuple) and all(map(valid, texts))
    check(option, are_valid, f"give a tuple of valid names, such as {example}")

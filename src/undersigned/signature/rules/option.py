"""Checks of the options that the rules of a profile have."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from undersigned.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


def check_seconds(option: str, value: object, *, least: int, optional: bool) -> None:
    """Check that `value` is a whole number of seconds, at least `least`, or None if the option is optional.

    Raises:
        ConfigurationError: it is not.
    """
    if value is None and optional:
        return
    if type(value) is not int or value < least:
        raise ConfigurationError(f"{option}: give whole seconds, at least {least}{', or None' if optional else ''}")


def check_choice(option: str, value: object, choices: Collection[str]) -> None:
    """Check that `value` is one of `choices`.

    Raises:
        ConfigurationError: it is not.
    """
    if not isinstance(value, str) or value not in choices:
        raise ConfigurationError(f"{option}: give one of {', '.join(sorted(choices))}")


def check_flag(option: str, value: object) -> None:
    """Check that `value` is True or False.

    Raises:
        ConfigurationError: it is not.
    """
    if not isinstance(value, bool):
        raise ConfigurationError(f"{option}: give True or False")


def check_texts(option: str, value: object, valid: Callable[[str], object], *, example: str) -> None:
    """Check that `value` is a tuple of texts, each of which is `valid`.

    Raises:
        ConfigurationError: it is not.
    """
    texts = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (None,)
    if not all(isinstance(text, str) and valid(text) for text in texts):
        raise ConfigurationError(f"{option}: give a tuple of valid names, such as {example}")

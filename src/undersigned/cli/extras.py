"""Extras: the error of a command whose optional packages are not installed."""

from __future__ import annotations

import click


class MissingExtra(click.ClickException):
    """Raised when an extra is not installed. It is shown as one line on standard error; the exit code is 2.

    Args:
        requirement: the requirement to install, such as `undersigned[demo]`.
        missing: the error of the import that failed.
    """

    exit_code = 2

    def __init__(self, requirement: str, missing: ImportError) -> None:
        super().__init__(f"{missing.name or 'an import'} cannot be imported: pip install '{requirement}'")

"""Extras: what a command says when its third parties are not installed."""

from __future__ import annotations

import click


class MissingExtra(click.ClickException):
    """The operator must act: an extra is not installed. One line on standard error, exit 2.

    Args:
        requirement: what to install, such as `undersigned[demo]`.
        missing: the import that failed.
    """

    exit_code = 2

    def __init__(self, requirement: str, missing: ImportError) -> None:
        super().__init__(f"{missing.name or 'an import'} cannot be imported: pip install '{requirement}'")

"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from undersigned import profiles

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., object]")

MOST_SECONDS = 999_999_999_999_999
"""The largest integer in a signature parameter (RFC 8941 section 3.3.1)."""

SECONDS = click.IntRange(0, MOST_SECONDS)
"""Seconds since the epoch."""

profile_option = click.option(
    "--profile",
    type=click.Choice([name for name, profile in profiles.BY_NAME.items() if profile.message == "request"]),
    default=profiles.ADCP_3_2.name,
    show_default=True,
    help="The profile of the signatures.",
)

stdin_argument = click.argument("source", type=click.Choice(["-"]), metavar="-", expose_value=False)
"""The `-` of a command that reads only from standard input."""


def algorithm_option(words: str) -> Callable[[Command], Command]:
    """Return the option for the signature algorithm of a new key; `words` is its help."""
    return click.option(
        "--alg",
        "algorithm",
        type=click.Choice(["ed25519", "ecdsa-p256-sha256"]),
        default="ed25519",
        show_default=True,
        help=words,
    )

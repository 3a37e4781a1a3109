"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, get_args

import click

from undersigned import profiles
from undersigned.cli.input_file import FILE_OR_DASH, as_input_file
from undersigned.signature.key_pair import Algorithm

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


pem_option = click.option(
    "--pem",
    type=FILE_OR_DASH,
    callback=as_input_file,
    metavar="FILE",
    help="A private key in PEM, without a password, to take instead of a new one.",
)

timeout_option = click.option(
    "--timeout",
    type=click.IntRange(1, 600),
    default=10,
    show_default=True,
    help="Seconds of silence after which a connection fails.",
)

ca_file_option = click.option(
    "--ca-file",
    type=FILE_OR_DASH,
    callback=as_input_file,
    metavar="FILE",
    help="PEM certificates to trust.  [default: the system's]",
)


def algorithm_option(words: str) -> Callable[[Command], Command]:
    """Return the option for the signature algorithm of a new key; `words` is its help."""
    return click.option(
        "--alg",
        "algorithm",
        type=click.Choice(get_args(Algorithm)),
        default="ed25519",
        show_default=True,
        help=f"{words} AdCP accepts the first two.",
    )

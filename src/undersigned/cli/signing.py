"""Signing by a profile, or by draft-cavage-12, which `--profile` lists with the profiles."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from undersigned import profiles
from undersigned.cavage.signer import CavageSigner
from undersigned.errors import ConfigurationError
from undersigned.explanation.draft import DRAFT
from undersigned.explanation.profile_guess import REQUEST_PROFILES
from undersigned.signature.signer import Signer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from undersigned.client import AnySigner
    from undersigned.message.request import Request
    from undersigned.signature.profile import Profile
    from undersigned.signature.signed_fields import SignedFields
    from undersigned.signature.signing_key import SigningKey

BY_NAME: Final[Mapping[str, Profile]] = {profile.name: profile for profile in REQUEST_PROFILES}
"""The profiles that requests are signed by, and the scheme of draft-cavage-12, by their names."""

_YEAR_10000: Final = 253_402_300_800

signing_profile_option = click.option(
    "--profile",
    type=click.Choice(list(BY_NAME)),
    default=profiles.ADCP_3_2.name,
    show_default=True,
    help=f"The profile of the signatures. {DRAFT.name} is the scheme before RFC 9421, with an RSA key.",
)


def signer_by(profile: Profile, key: SigningKey, *, clock: Callable[[], float] = time.time) -> AnySigner:
    """Return the signer of requests by a profile, or by the draft.

    Raises:
        ConfigurationError: the key cannot sign by it.
    """
    return CavageSigner(key, clock=clock) if profile is DRAFT else Signer(key, profile=profile, clock=clock)


def signing(
    profile: Profile,
    key: SigningKey,
    *,
    created: int | None,
    expires: int | None,
    nonce: str | None,
    label: str | None,
) -> Callable[[Request], SignedFields]:
    """Return a function that signs requests by a profile, or by the draft, with these options of a command.

    Raises:
        ConfigurationError: the key or an option is not one for the profile.
    """
    clock = time.time if created is None else lambda: created
    signer = signer_by(profile, key, clock=clock)
    if isinstance(signer, Signer):
        return partial(signer.sign, created=created, expires=expires, nonce=nonce, label=label)
    options = {"--expires": expires, "--nonce": nonce, "--label": label}
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise ConfigurationError(f"leave out {', '.join(given)}: a signature by {profile.name} has none")
    if created is not None and created >= _YEAR_10000:
        raise ConfigurationError(f"--created: give a time before the year 10000, for the Date of {profile.name}")
    return signer.sign


def kept_fields(
    fields: Iterable[tuple[str, str]], signed: SignedFields, profile: Profile
) -> tuple[tuple[str, str], ...]:
    """Return the header fields to send with the signature: for the draft, without those that it writes itself."""
    written = {name.lower() for name, _ in signed} if profile is DRAFT else frozenset[str]()
    return tuple((name, value) for name, value in fields if name.lower() not in written)

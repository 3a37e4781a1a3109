"""The verifier that the settings of a framework describe: a verifier, or a JWK set and a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from undersigned import profiles
from undersigned.errors import ConfigurationError
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.key_source import KeySet
from undersigned.signature.profile import Profile
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def configured_verifier(
    settings: Mapping[str, object], *, otherwise: Verifier | None = None, key: Callable[[str], str]
) -> Verifier:
    """Return the verifier that settings describe. One that is made of a JWK set keeps nonces in this process.

    Args:
        settings: has `VERIFIER`, or `JWKS` (a JWK set) and maybe `PROFILE` (a profile or its name).
        otherwise: the verifier if the settings describe none.
        key: returns the name of a setting as its operator writes it, for the error messages.

    Raises:
        ConfigurationError: a setting is missing, has a wrong value or contradicts another.
    """
    configured, jwks, profile = (settings.get(name) for name in ("VERIFIER", "JWKS", "PROFILE"))
    if jwks is None and profile is None:
        verifier = otherwise if configured is None else configured
        if isinstance(verifier, Verifier):
            return verifier
        raise ConfigurationError(f"{key('VERIFIER')}: pass a Verifier, or set {key('JWKS')} to a JWK set")
    if configured is not None:
        raise ConfigurationError(
            f"{key('VERIFIER')}: it has its keys and profile; leave {key('JWKS')} and {key('PROFILE')} out"
        )
    if jwks is None:
        raise ConfigurationError(f"{key('JWKS')}: {key('PROFILE')} is set, so set this to a JWK set too")
    chosen = profiles.DEFAULT if profile is None else _profile(profile, key("PROFILE"))
    try:
        keys = KeySet.from_jwks(cast("Mapping[str, object]", jwks))
        return Verifier(chosen, keys=keys, replay=MemoryReplayStore())
    except ConfigurationError as error:
        raise ConfigurationError(f"{key('JWKS')}: {error}") from None


def _profile(profile: object, key: str) -> Profile:
    known = profiles.BY_NAME.get(profile) if isinstance(profile, str) else profile
    if isinstance(known, Profile):
        return known
    raise ConfigurationError(f"{key}: set it to {' or '.join(profiles.BY_NAME)}, or to one of undersigned.profiles")

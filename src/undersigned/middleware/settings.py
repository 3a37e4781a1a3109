"""The options that the settings of a framework describe, and the verifier: one, or a JWK set and a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from undersigned import profiles
from undersigned.errors import ConfigurationError
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.key_source import KeySet, is_key_source
from undersigned.signature.profile import Profile
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from undersigned.signature.key_source import KeySource


def configured_options(
    settings: Mapping[str, object],
    names: Iterable[str],
    *,
    given: Mapping[str, object] | None = None,
    key: Callable[[str], str],
) -> dict[str, Any]:
    """Return the options of a guard that settings describe. A verifier that is made here keeps nonces in this process.

    Args:
        settings: the options in capitals; also `VERIFIER`, or `JWKS` (a JWK set or a key source) and maybe `PROFILE`
            (a profile or its name).
        names: the options that the guard has, besides the verifier.
        given: the options if the settings do not have them.
        key: returns the name of a setting as its operator writes it, for the error messages.

    Raises:
        ConfigurationError: the settings do not describe a verifier. The guard checks everything else.
    """
    own = {name: settings[name.upper()] for name in names if settings.get(name.upper()) is not None}
    options = {"origins": (), **(given or {}), **own}
    return options | {"verifier": _verifier(settings, options.get("verifier"), key)}


def _verifier(settings: Mapping[str, object], otherwise: object, key: Callable[[str], str]) -> Verifier:
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
        named = is_key_source(jwks)
        keys = cast("KeySource", jwks) if named else KeySet.from_jwks(cast("Mapping[str, object]", jwks))
        return Verifier(chosen, keys=keys, replay=MemoryReplayStore())
    except ConfigurationError as error:
        raise ConfigurationError(f"{key('JWKS')}: {error}") from None


def _profile(profile: object, key: str) -> Profile:
    known = profiles.BY_NAME.get(profile) if isinstance(profile, str) else profile
    if isinstance(known, Profile):
        return known
    raise ConfigurationError(f"{key}: set it to {' or '.join(profiles.BY_NAME)}, or to one of undersigned.profiles")

"""The settings of one application: the extension's arguments, and the keys of `app.config`, which come first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, cast

from undersigned import ConfigurationError, Decision, KeySet, MemoryReplayStore, Policy, Profile, Verifier, profiles
from undersigned.middleware import DEFAULT_MAX_BODY, Mode
from undersigned.wsgi import Environ, Fallback

ModeSetting: TypeAlias = Mode | Callable[[Environ], Mode]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of the middleware around one application; `Undersigned` documents each."""

    verifier: Verifier | None = None
    origins: Iterable[str] = ()
    mode: ModeSetting = "required"
    max_body: int = DEFAULT_MAX_BODY
    reconstruct: bool = False
    http2_server: str | None = None
    policy: Policy | None = None
    fallback: Fallback | None = None
    on_decision: Callable[[Decision], object] | None = None

    def options(self, config: Mapping[str, object]) -> dict[str, Any]:
        """Return the options of the middleware: those of `config` if it has them, else these.

        Raises:
            ConfigurationError: two settings contradict each other, or no verifier comes of them. The middleware checks
                everything else.
        """
        options: dict[str, Any] = {}
        for option in fields(self):
            configured = config.get(f"UNDERSIGNED_{option.name.upper()}")
            options[option.name] = getattr(self, option.name) if configured is None else configured
        return {**options, "verifier": _verifier(config, self.verifier), "origins": strings(options["origins"])}


def strings(origins: object) -> Iterable[str]:
    """Return `origins` as a tuple, which can be read again; a single string stays, for the middleware to reject.

    Raises:
        ConfigurationError: it is not an iterable of strings.
    """
    given = tuple(cast("Iterable[object]", origins)) if isinstance(origins, Iterable) else (None,)
    if not all(isinstance(origin, str) for origin in given):
        raise ConfigurationError("UNDERSIGNED_ORIGINS: give a list of strings, such as ['https://seller.example.com']")
    return origins if isinstance(origins, str) else cast("tuple[str, ...]", given)


def _verifier(config: Mapping[str, object], otherwise: Verifier | None) -> Verifier:
    """Return the configured verifier, or one over the configured JWK set that keeps nonces in this process."""
    configured = config.get("UNDERSIGNED_VERIFIER")
    jwks, profile = config.get("UNDERSIGNED_JWKS"), config.get("UNDERSIGNED_PROFILE")
    if jwks is None and profile is None:
        verifier = otherwise if configured is None else configured
        if verifier is None:
            raise ConfigurationError(
                "UNDERSIGNED_VERIFIER: set it in app.config or pass verifier= to Undersigned, or set UNDERSIGNED_JWKS "
                "to a JWK set and UNDERSIGNED_PROFILE to a profile"
            )
        return cast("Verifier", verifier)
    if configured is not None:
        raise ConfigurationError(
            "UNDERSIGNED_VERIFIER: it has its keys and profile; leave UNDERSIGNED_JWKS and UNDERSIGNED_PROFILE out"
        )
    if jwks is None:
        raise ConfigurationError("UNDERSIGNED_JWKS: UNDERSIGNED_PROFILE is set, so set this to a JWK set too")
    try:
        keys = KeySet.from_jwks(cast("Mapping[str, object]", jwks))
    except ConfigurationError as error:
        raise ConfigurationError(f"UNDERSIGNED_JWKS: {error}") from None
    return Verifier(_profile(profile), keys=keys, replay=MemoryReplayStore())


def _profile(profile: object) -> Profile:
    known = profiles.BY_NAME.get(profile) if isinstance(profile, str) else profile
    if isinstance(known, Profile):
        return known
    raise ConfigurationError(
        f"UNDERSIGNED_PROFILE: set it to {' or '.join(profiles.BY_NAME)}, or to one of undersigned.profiles"
    )

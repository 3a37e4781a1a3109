"""The settings of one application: the extension's arguments, and what its `app.config` says instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from undersigned import ConfigurationError, KeySet, MemoryReplayStore, Profile, Verifier, profiles
from undersigned.middleware import DEFAULT_MAX_BODY, Mode
from undersigned.wsgi import Environ

if TYPE_CHECKING:
    from collections.abc import Mapping

ModeSetting: TypeAlias = Mode | Callable[[Environ], Mode]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the middleware of one application is made with; `Undersigned` documents each."""

    verifier: Verifier | None = None
    origins: Iterable[str] = ()
    mode: ModeSetting = "required"
    max_body: int = DEFAULT_MAX_BODY

    def configured(self, config: Mapping[str, object]) -> Settings:
        """Return these settings with those `config` has in their place, and a verifier in any case.

        Raises:
            ConfigurationError: two settings contradict each other, or no verifier comes of them. What a value must be
                otherwise is the middleware's to say.
        """
        return Settings(
            verifier=_verifier(config, self.verifier),
            origins=strings(_configured(config, "UNDERSIGNED_ORIGINS", self.origins)),
            mode=_configured(config, "UNDERSIGNED_MODE", self.mode),
            max_body=_configured(config, "UNDERSIGNED_MAX_BODY", self.max_body),
        )


def strings(origins: object) -> Iterable[str]:
    """Return `origins` as a tuple that can be read again and again; one string stays, to be refused for what it is.

    Raises:
        ConfigurationError: it is no iterable of strings.
    """
    given = tuple(cast("Iterable[object]", origins)) if isinstance(origins, Iterable) else (None,)
    if not all(isinstance(origin, str) for origin in given):
        raise ConfigurationError("UNDERSIGNED_ORIGINS: give a list of strings, such as ['https://seller.example.com']")
    return origins if isinstance(origins, str) else cast("tuple[str, ...]", given)


def _configured(config: Mapping[str, object], name: str, otherwise: Value) -> Value:
    value = config.get(name)
    return otherwise if value is None else cast("Value", value)


def _verifier(config: Mapping[str, object], otherwise: Verifier | None) -> Verifier:
    """Return the verifier set, or one over the JWK set that is set, which remembers nonces in this process."""
    jwks, profile = config.get("UNDERSIGNED_JWKS"), config.get("UNDERSIGNED_PROFILE")
    if jwks is None and profile is None:
        verifier = _configured(config, "UNDERSIGNED_VERIFIER", otherwise)
        if verifier is None:
            raise ConfigurationError(
                "UNDERSIGNED_VERIFIER: set it in app.config or pass verifier= to Undersigned, or set UNDERSIGNED_JWKS "
                "to a JWK set and UNDERSIGNED_PROFILE to a profile"
            )
        return verifier
    if config.get("UNDERSIGNED_VERIFIER") is not None:
        raise ConfigurationError(
            "UNDERSIGNED_VERIFIER: it has its keys and profile; leave UNDERSIGNED_JWKS and UNDERSIGNED_PROFILE out"
        )
    if jwks is None:
        raise ConfigurationError("UNDERSIGNED_JWKS: UNDERSIGNED_PROFILE is set, so set this to a JWK set besides")
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

"""The settings of one application: the extension's arguments, and the keys of `app.config`, which override them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

from undersigned import ConfigurationError, Decision, Policy, Verifier
from undersigned.middleware import (
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_UNSIGNED_BODY,
    ConfiguredOrigins,
    Mode,
    configured_verifier,
)

if TYPE_CHECKING:
    from undersigned.wsgi import Fallback, Rejection

_PREFIX = "UNDERSIGNED_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of the middleware around one application; `Undersigned` documents each."""

    verifier: Verifier | None = None
    origins: ConfiguredOrigins = ()
    mode: Mode = "required"
    max_body: int = DEFAULT_MAX_BODY
    max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY
    reconstruct: bool = False
    http2_server: str | None = None
    policy: Policy | None = None
    fallback: Fallback | None = None
    on_decision: Callable[[Decision], object] | None = None
    rejection: Rejection | None = None

    def options(self, config: Mapping[str, object]) -> dict[str, Any]:
        """Return the options of the middleware: those of `config` if it has them, else these.

        Raises:
            ConfigurationError: two settings contradict each other, or do not describe a verifier. The middleware checks
                everything else.
        """
        options: dict[str, Any] = {}
        for option in fields(self):
            configured = config.get(_PREFIX + option.name.upper())
            options[option.name] = getattr(self, option.name) if configured is None else configured
        settings = {name.removeprefix(_PREFIX): value for name, value in config.items() if name.startswith(_PREFIX)}
        verifier = configured_verifier(settings, otherwise=self.verifier, key=_PREFIX.__add__)
        return {**options, "verifier": verifier, "origins": checked_origins(options["origins"])}


def checked_origins(origins: object) -> ConfiguredOrigins:
    """Return `origins` as a tuple, which can be read twice; a function or a single string unchanged.

    Raises:
        ConfigurationError: it is neither a function nor an iterable of strings.
    """
    if callable(origins):
        return cast("Callable[[str], str | None]", origins)
    given = tuple(cast("Iterable[object]", origins)) if isinstance(origins, Iterable) else (None,)
    if not all(isinstance(origin, str) for origin in given):
        raise ConfigurationError("UNDERSIGNED_ORIGINS: give a list of strings, such as ['https://seller.example.com']")
    return origins if isinstance(origins, str) else cast("tuple[str, ...]", given)

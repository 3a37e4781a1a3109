"""The setting `UNDERSIGNED`: a dictionary with the options of the middleware in upper case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from undersigned import ConfigurationError
from undersigned.middleware import configured_verifier

_CALLED = ("POLICY", "FALLBACK", "ON_DECISION", "REJECTION")
_SHARED = ("ORIGINS", "MODE", "MAX_BODY", "MAX_UNSIGNED_BODY", "HTTP2_SERVER", *_CALLED)
_WSGI = ("RECONSTRUCT",)
_ASGI = ("SERVER_ADDS_ROOT_PATH",)
_IMPORTED = ("ORIGINS", "VERIFIER", *_CALLED, "USER")
_KNOWN = {*_SHARED, *_WSGI, *_ASGI, "VERIFIER", "JWKS", "PROFILE", "USER"}


def read_setting() -> dict[str, object]:
    """Return the setting `UNDERSIGNED`, with dotted paths replaced by the objects that they name.

    Raises:
        ConfigurationError: it is not a dictionary, has an unknown key, or has a path that cannot be imported.
    """
    given: object = getattr(settings, "UNDERSIGNED", None)
    if not isinstance(given, Mapping):
        raise ConfigurationError('UNDERSIGNED: set it to a dictionary, such as {"ORIGINS": [...], "VERIFIER": ...}')
    chosen = dict(cast("Mapping[str, object]", given))
    unknown = sorted(set(map(str, chosen)) - _KNOWN)
    if unknown:
        raise ConfigurationError(f"UNDERSIGNED: {', '.join(unknown)} is not an option; use {', '.join(sorted(_KNOWN))}")
    for name in _IMPORTED:
        path = chosen.get(name)
        if isinstance(path, str) and "." in path and "://" not in path:
            try:
                chosen[name] = import_string(path)
            except ImportError as error:
                raise ConfigurationError(f"{key(name)}: cannot import {path}: {error}") from None
    return chosen


def key(name: str) -> str:
    """Return an option as it is written in the settings."""
    return f'UNDERSIGNED["{name}"]'


def options(chosen: Mapping[str, object], *, asgi: bool) -> dict[str, Any]:
    """Return the options of the ASGI or the WSGI guard.

    Raises:
        ConfigurationError: the settings do not describe a verifier. The guard checks everything else.
    """
    names = (*_SHARED, *(_ASGI if asgi else _WSGI))
    made: dict[str, Any] = {name.lower(): chosen[name] for name in names if chosen.get(name) is not None}
    return {"origins": (), **made, "verifier": configured_verifier(chosen, key=key)}

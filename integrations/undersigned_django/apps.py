"""The Django application: system checks, which report at the start what would otherwise fail at the first request."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, cast

from django.apps import AppConfig, apps
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning

from undersigned import ConfigurationError

from .requirement import guards

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class UndersignedConfig(AppConfig):
    """The application `undersigned_django`."""

    name = "undersigned_django"
    verbose_name = "HTTP message signatures"

    def ready(self) -> None:
        """Register the system checks, and the security scheme of REST framework's views for drf-spectacular."""
        checks.register(check_settings, checks.Tags.security)
        if apps.is_installed("drf_spectacular"):
            import_module("undersigned_django.spectacular")


_MIDDLEWARE = "undersigned_django.middleware.SignatureMiddleware"
_CORS = "corsheaders.middleware.CorsMiddleware"
"""It answers preflights, which no browser signs, and adds its fields to every answer: so it must be outside."""


def check_settings(**_options: object) -> list[CheckMessage]:
    """Return the errors in the setting `UNDERSIGNED` and in the position of the middleware."""
    found: list[CheckMessage] = []
    try:
        guards()
    except ConfigurationError as error:
        found.append(Error(str(error), id="undersigned_django.E001"))
    listed = list(cast("Sequence[str]", settings.MIDDLEWARE))
    hint = f'Put "{_MIDDLEWARE}" first in MIDDLEWARE. Only "{_CORS}" may be before it.'
    if _MIDDLEWARE not in listed:
        missing = "no request is verified: the middleware is missing"
        found.append(Error(missing, hint=hint, id="undersigned_django.E002"))
    elif before := [name for name in listed[: listed.index(_MIDDLEWARE)] if name != _CORS]:
        early = f"{before[0]} gets requests before they are verified"
        found.append(CheckWarning(early, hint=hint, id="undersigned_django.W001"))
    chosen = cast("Mapping[str, object]", getattr(settings, "UNDERSIGNED", None) or {})
    if sys.argv[1:2] == ["runserver"] and not found and not chosen.get("RECONSTRUCT"):
        hidden = "runserver does not show the raw URL, so signed requests get 503"
        hint = 'Set UNDERSIGNED["RECONSTRUCT"] to DEBUG: the URL is then rebuilt in development only.'
        found.append(CheckWarning(hidden, hint=hint, id="undersigned_django.W002"))
    return found

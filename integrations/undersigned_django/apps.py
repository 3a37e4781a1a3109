"""The Django application: it runs the system checks."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks

from .checks import check_settings


class UndersignedConfig(AppConfig):
    """The application `undersigned_django`."""

    name = "undersigned_django"
    verbose_name = "HTTP message signatures"

    def ready(self) -> None:
        """Register the system checks."""
        checks.register(check_settings, checks.Tags.security)

"""The Django application: it runs the system checks, and registers what drf-spectacular shows."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig, apps
from django.core import checks

from .checks import check_settings


class UndersignedConfig(AppConfig):
    """The application `undersigned_django`."""

    name = "undersigned_django"
    verbose_name = "HTTP message signatures"

    def ready(self) -> None:
        """Register the system checks, and the security scheme of REST framework's views for drf-spectacular."""
        checks.register(check_settings, checks.Tags.security)
        if apps.is_installed("drf_spectacular"):
            import_module("undersigned_django.spectacular")

"""The OpenAPI document of Django REST framework, as drf-spectacular makes it."""

from __future__ import annotations

from importlib import import_module

from django.test import override_settings
from django.urls import path
from tests.integrations.django_site import Caller, Named


def test_schema_of_drf_spectacular_has_the_security_scheme():
    # It reads the settings when it is imported.
    generators, shown = (import_module(f"drf_spectacular.{name}") for name in ("generators", "openapi"))

    class Signed(Caller):
        schema = shown.AutoSchema()

    class Other(Signed):
        authentication_classes = (Named,)

    patterns = [path("plans", Signed.as_view()), path("other", Other.as_view())]
    with override_settings(INSTALLED_APPS=["undersigned_django", "rest_framework", "drf_spectacular"]):
        schema = generators.SchemaGenerator(patterns=patterns).get_schema(public=True)
    assert schema["components"]["securitySchemes"]["Signature"]["scheme"] == "Signature"
    assert schema["paths"]["/plans"]["post"]["security"] == [{"Signature": []}]
    assert "security" not in schema["paths"]["/other"]["post"]

"""The security scheme of `SignatureAuthentication` in the OpenAPI document of drf-spectacular."""

from __future__ import annotations

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from undersigned.middleware import SCHEME


class SignatureScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base registers it
    """The security scheme: drf-spectacular uses it for each view with `SignatureAuthentication`."""

    target_class = "undersigned_django.rest_framework.SignatureAuthentication"
    match_subclasses = True
    name = "Signature"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:  # noqa: ARG002 - drf-spectacular's
        """Return the scheme."""
        return dict(SCHEME)

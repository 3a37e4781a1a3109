"""HTTP message signatures for Django, which `signature_required` requires for a view.

Add `"undersigned_django"` to INSTALLED_APPS, `"undersigned_django.middleware.SignatureMiddleware"` as the first of
MIDDLEWARE, and the setting `UNDERSIGNED`. `undersigned_django.rest_framework` has an authentication class.
"""

from undersigned.errors import needs_extra

with needs_extra("django"):
    from .requirement import SignatureRequired, find_signature, jwks_route, signature_required, verified_signature
    from .routes import RouteResolver

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

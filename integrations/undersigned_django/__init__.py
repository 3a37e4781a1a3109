"""HTTP message signatures for Django.

Add `"undersigned_django"` to INSTALLED_APPS, `"undersigned_django.middleware.SignatureMiddleware"` as the first of
MIDDLEWARE, and the setting `UNDERSIGNED`. The decorator `signature_required` lets a view run only for a signed
request, and `find_signature` and `verified_signature` return the signature of a request.
`undersigned_django.rest_framework` has an authentication class. `jwks_route` publishes the keys of this service or bot.
With `RouteResolver`, a policy decides about the view that is about to run.
"""

from undersigned.errors import missing_extra

try:
    from .publishing import jwks_route
    from .requirement import SignatureRequired, find_signature, signature_required, verified_signature
    from .routes import RouteResolver
except ModuleNotFoundError as missing:
    raise missing_extra("django", missing) from missing

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

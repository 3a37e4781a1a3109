"""HTTP message signatures for Django.

Add `"undersigned_django"` to INSTALLED_APPS, `"undersigned_django.middleware.SignatureMiddleware"` as the first of
MIDDLEWARE, and the setting `UNDERSIGNED`. The decorator `signature_required` lets a view run only for a signed request;
`request.signature` is the verified signature, or None. `undersigned_django.rest_framework` has an authentication class.
"""

from .requirement import signature_required, verified_signature

__all__ = ["signature_required", "verified_signature"]

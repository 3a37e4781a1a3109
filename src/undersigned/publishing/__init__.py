"""Publishing: the common part of the routes that serve public keys.

`undersigned_starlette`, `undersigned_fastapi`, `undersigned_flask` and `undersigned_django` each have a function
`jwks_route`. With any other framework, serve what `PublishedKeys(...).response(method)` returns.
"""

from undersigned.publishing.jwks_response import JWKSResponse, PublishedKeys, PublishedUCPProfile
from undersigned.publishing.signed_directory import PublishedDirectory

__all__ = [
    "JWKSResponse",
    "PublishedDirectory",
    "PublishedKeys",
    "PublishedUCPProfile",
]

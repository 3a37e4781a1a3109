"""Publishing: the common part of the routes that serve public keys.

`undersigned_starlette`, `undersigned_fastapi`, `undersigned_flask` and `undersigned_django` each have a function
`jwks_route`, and a function `directory_route` for the signed key directory of Web Bot Auth.
"""

from undersigned.message.signature_agent import DIRECTORY_PATH
from undersigned.publishing.directory import PublishedDirectory
from undersigned.publishing.jwks import DEFAULT_MAX_AGE, JWKS_PATH, JWKSResponse, PublishedKeys

__all__ = [
    "DEFAULT_MAX_AGE",
    "DIRECTORY_PATH",
    "JWKS_PATH",
    "JWKSResponse",
    "PublishedDirectory",
    "PublishedKeys",
]

"""Publishing the keys of a UCP profile, for readers of each version (UCP, signatures.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from undersigned.publishing.jwks import PublishedKeys
from undersigned.publishing.public_jwks import public_jwks_text

if TYPE_CHECKING:
    from collections.abc import Mapping


class PublishedUCPProfile(PublishedKeys):
    """A UCP profile, and the responses that serve it: a JSON object with the array `keys` and whatever else it has.

    Release 2026-04-08 of UCP reads the keys in `signing_keys`, and later ones in `keys`. Both arrays are served.

    Arguments and errors are those of `PublishedKeys`; `keys` is the profile.
    """

    __slots__ = ()

    path: ClassVar[str] = "/.well-known/ucp"
    _media_type: ClassVar[str] = "application/json"

    def _text_of(self, keys: object) -> bytes:
        if isinstance(keys, dict):
            profile = cast("Mapping[str, object]", keys)
            keys = {**profile, "signing_keys": profile.get("keys")}
        return public_jwks_text(keys, is_profile=True)

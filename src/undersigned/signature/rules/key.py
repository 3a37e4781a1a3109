"""What a key must declare about itself (RFC 7517 section 4, AdCP key publication)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from undersigned.errors import Reason


class KeyRule(NamedTuple):
    """A rule for what a key must declare about itself.

    Attributes:
        purposes: the accepted values of the JWK's `adcp_use`. Empty: it is not looked at.
        is_declared: whether the JWK must have `use` sig, `key_ops` with verify, and an `alg` that fits its type. If
            not, these members may be absent, but must not say otherwise.
        is_thumbprint: whether `keyid` must be the key's JWK thumbprint (RFC 7638).
        unsupported: the reason for a key that cannot be used, or has no algorithm of the profile.
    """

    purposes: frozenset[str] = frozenset()
    is_declared: bool = False
    is_thumbprint: bool = False
    unsupported: Reason = "signature_key_purpose_invalid"

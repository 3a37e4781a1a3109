"""Keys: what a key must declare about itself before it may verify a signature of a profile."""

from __future__ import annotations

from dataclasses import dataclass

from undersigned.errors import ConfigurationError
from undersigned.signature.rules.option import check_flag


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRule:
    """A rule for what a key must declare about itself.

    Attributes:
        purposes: the accepted values of the JWK's `adcp_use`. Empty: it is not looked at.
        is_declared: whether the JWK must have `use` sig, `key_ops` with verify, and an `alg` that fits its type. If
            not, these members may be absent, but must not say otherwise.
        is_thumbprint: whether `keyid` must be the key's JWK thumbprint (RFC 7638).

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    purposes: frozenset[str] = frozenset()
    is_declared: bool = False
    is_thumbprint: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.purposes, frozenset) or not all(isinstance(one, str) for one in self.purposes):
            raise ConfigurationError("key.purposes: give a frozenset of adcp_use values")
        check_flag("key.is_declared", self.is_declared)
        check_flag("key.is_thumbprint", self.is_thumbprint)

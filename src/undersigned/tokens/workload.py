"""Workload identity tokens: the keys of WIMSE requests (draft-ietf-wimse-http-signature-07, section 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.message.timestamps import system_clock
from undersigned.signature.jwk import thumbprint
from undersigned.signature.key_source import is_key_source
from undersigned.signature.verification_key import VerificationKey
from undersigned.tokens.jwt import read_token, text_of, token_error
from undersigned.verification.blocking_calls import Several, awaited, finish

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from undersigned.signature.key_source import AsyncKeySource, KeyLookup
    from undersigned.tokens.jwt import Token

_FIELD: Final = "workload-identity-token"
_TYPE: Final = "wit+jwt"

_WORKLOAD: Final = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+)(?:/.*)?")
"""The URI of a workload, such as wimse://example.com/svc or spiffe://example.com/svc, and its trust domain."""

_TRUST_DOMAIN: Final = re.compile(r"[a-z0-9._-]+")


class WorkloadTokenKeys(Several["AsyncKeySource"]):
    """The keys that are bound to the Workload-Identity-Token of a message, for `profiles.WIMSE`, threads and asyncio.

    The owner of a key is the subject of its token, such as `wimse://example.com/svc`. A token is verified with the keys
    of the trust domain in its subject, and no others. No issuer can name the workloads of another one. The issuer
    that a token names is never asked.

    Args:
        issuers: the keys of the issuer of each trust domain, such as `{"example.com": KeySet.from_jwks(jwks)}`.
        audience: the names of this service, if the issuers write `aud`. A token without one of them is rejected. By
            default, a token with `aud` is rejected: WIMSE's own tokens have none, as `wimse-aud` says for whom a
            message is.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    __slots__ = ("_audience", "_clock")

    def __init__(
        self,
        issuers: Mapping[str, AsyncKeySource],
        *,
        audience: Collection[str] = (),
        clock: Callable[[], float] = system_clock,
    ) -> None:
        if not isinstance(issuers, Mapping) or not issuers:
            raise ConfigurationError(
                "issuers: map each trust domain to the keys of its issuer, such as {'example.com': keys}"
            )
        for domain, source in issuers.items():
            if not isinstance(domain, str) or not _TRUST_DOMAIN.fullmatch(domain):
                raise ConfigurationError("issuers: name a trust domain in lower case, such as example.com")
            if not is_key_source(source):
                raise ConfigurationError("issuers: pass a key source, such as KeySet.from_jwks(jwks)")
        if isinstance(audience, str):
            raise ConfigurationError('audience: list the names of this service, such as ("https://orders.example",)')
        super().__init__("find", issuers)
        self._audience = frozenset(audience)
        self._clock = clock

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the key that is bound to the token.

        Raises:
            KeySourceError: there is no token, or it cannot be trusted.
        """
        return finish(self._find(lookup, lambda domain: self._sources[domain].find))

    async def async_find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the key as `find` does, and await the answer of an issuer's source."""
        return await self._find(lookup, self._from_tasks.__getitem__)

    async def _find(
        self, lookup: KeyLookup, of_domain: Callable[[str], Callable[..., Any]]
    ) -> tuple[VerificationKey, ...]:
        token, domain = self._read(lookup)
        find, asked = of_domain(domain), lookup._replace(keyid=token.keyid)
        keys: Sequence[VerificationKey] = await awaited(find(asked))
        if not token.is_signed_by(keys) and getattr(self._sources[domain], "asks_again", False):
            # The issuer may have published another key under the same kid.
            keys = await awaited(find(asked._replace(is_second_try=True)))
        token.check_issuer(keys)
        self._check_audience(token.claims)
        return (bound_key(token.claims, now=self._clock()),)

    def _check_audience(self, claims: Mapping[str, object]) -> None:
        """Check that `aud` names this service; without `audience`, that there is no `aud` (RFC 8725 section 3.9)."""
        if "aud" not in claims and not self._audience:
            return
        named = claims.get("aud")
        names = cast("list[object]", named) if isinstance(named, list) else [named]
        if not any(isinstance(name, str) and name in self._audience for name in names):
            raise KeySourceError("signature_jwks_untrusted", "audience: none of its names is in the token's aud")

    def _read(self, lookup: KeyLookup) -> tuple[Token, str]:
        """Return the token of a message, and the trust domain of its issuer."""
        value = lookup.covered_value(_FIELD)
        if value is None:
            raise KeySourceError("signature_identity_missing", f"the signature covers no {_FIELD}")
        token = read_token(value, types=(_TYPE,))
        workload = _WORKLOAD.fullmatch(text_of(token.claims, "sub"))
        if workload is None:
            raise token_error("its sub is not the URI of a workload, such as wimse://example.com/svc")
        if workload[1] not in self._sources:
            raise KeySourceError(
                "signature_jwks_untrusted", "issuers: the trust domain of the token is not one of them"
            )
        return token, workload[1]


def bound_key(claims: Mapping[str, object], *, now: float) -> VerificationKey:
    """Return the key that is bound to a token by its claim `cnf` (RFC 7800). Its owner is the subject of the token.

    Args:
        claims: the claims of the token.
        now: seconds since the epoch.

    Raises:
        KeySourceError: the token has expired, or has no subject or no such key.
    """
    expires, begins, subject = claims.get("exp"), claims.get("nbf", 0), text_of(claims, "sub")
    if not _is_time(expires) or not _is_time(begins) or not subject.isprintable() or not subject:
        raise token_error("it needs exp and sub")
    if not cast("float", begins) <= now < cast("float", expires):
        raise token_error("it has expired, or is not valid yet")
    jwk = _member(_member(claims, "cnf"), "jwk")
    if not text_of(jwk, "alg"):
        raise token_error("the key in its cnf needs alg")
    kid = text_of(jwk, "kid") or thumbprint(jwk) or ""
    return VerificationKey.from_jwk({**jwk, "kid": kid}, owner=subject)


def _member(claims: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = claims.get(name)
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Workload identity tokens: the keys of WIMSE requests (draft-ietf-wimse-http-signature-07, section 3)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.tokens.jwt import read_token, token_error
from undersigned.tokens.source import AsyncTokenSource, Question, TokenSource, check_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySource
    from undersigned.signature.verification_key import VerificationKey

_FIELD: Final = "workload-identity-token"
_TYPE: Final = "wit+jwt"

_WORKLOAD: Final = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+)(?:/.*)?")
"""The URI of a workload, such as wimse://example.com/svc or spiffe://example.com/svc, and its trust domain."""

_TRUST_DOMAIN: Final = re.compile(r"[a-z0-9._-]+")


class _Rule:
    """The rule for WIMSE messages."""

    __slots__ = ("_audience", "_clock", "_issuers")

    def __init__(
        self, issuers: Mapping[str, AsyncKeySource], audience: Collection[str], clock: Callable[[], float]
    ) -> None:
        if not isinstance(issuers, Mapping) or not issuers:
            raise ConfigurationError(
                "issuers: map each trust domain to the keys of its issuer, such as {'example.com': keys}"
            )
        for domain, source in issuers.items():
            if not isinstance(domain, str) or not _TRUST_DOMAIN.fullmatch(domain):
                raise ConfigurationError("issuers: name a trust domain in lower case, such as example.com")
            check_source("issuers", source)
        if isinstance(audience, str):
            raise ConfigurationError('audience: list the names of this service, such as ("https://orders.example",)')
        self._issuers = dict(issuers)
        self._audience = frozenset(audience)
        self._clock = clock

    def question(self, lookup: KeyLookup) -> Question:
        value = lookup.covered_value(_FIELD)
        if value is None:
            raise KeySourceError("signature_identity_missing", f"the signature covers no {_FIELD}")
        token = read_token(value, types=(_TYPE,))
        workload = _WORKLOAD.fullmatch(token.subject)
        if workload is None:
            raise token_error("its sub is not the URI of a workload, such as wimse://example.com/svc")
        if workload[1] not in self._issuers:
            raise KeySourceError(
                "signature_jwks_untrusted", "issuers: the trust domain of the token is not one of them"
            )
        return Question(token, self._issuers[workload[1]])

    def key(self, question: Question, lookup: KeyLookup) -> VerificationKey:  # noqa: ARG002 - as the protocol has it
        question.token.check_audience(self._audience)
        return question.token.bound_key(now=self._clock())


class WorkloadTokenKeys(TokenSource):
    """The keys that are bound to the Workload-Identity-Token of a message, for `profiles.WIMSE`.

    The owner of a key is the subject of its token, such as `wimse://example.com/svc`. A token is verified with the keys
    of the trust domain in its subject, and no others. So no issuer can name the workloads of another one. The issuer
    that a token names is never asked.

    Args:
        issuers: the keys of the issuer of each trust domain, such as `{"example.com": KeySet.from_jwks(jwks)}`.
        audience: the names of this service. A token whose `aud` has none of them is rejected.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: an argument has the wrong type or value, or the answers of a source have to be awaited.
    """

    __slots__ = ()

    def __init__(
        self,
        issuers: Mapping[str, KeySource],
        *,
        audience: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        # The rule checks that `issuers` is a mapping.
        rule = _Rule(issuers, audience, clock)
        super().__init__(rule, issuers.values())


class AsyncWorkloadTokenKeys(AsyncTokenSource):
    """`WorkloadTokenKeys` for an `AsyncVerifier`: the answers of the sources may be awaitable."""

    __slots__ = ()

    def __init__(
        self,
        issuers: Mapping[str, AsyncKeySource],
        *,
        audience: Collection[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(_Rule(issuers, audience, clock))

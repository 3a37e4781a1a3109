"""Signature-Key: the keys of AAuth requests, by the scheme `jwt` (Signature-Key draft 04; experimental)."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.message.structured_fields import MalformedField, ParserBudget, parse_dictionary
from undersigned.tokens.jwt import read_token, token_error
from undersigned.tokens.source import AsyncTokenSource, Question, TokenSource, check_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySource
    from undersigned.signature.verification_key import VerificationKey

_FIELD: Final = "signature-key"
_SCHEME: Final = "jwt"
_ALGORITHMS: Final = frozenset({"Ed25519", "ES256"})


class _Rule:
    """The rule for AAuth requests."""

    __slots__ = ("_clock", "_issuers", "_types")

    def __init__(
        self, issuers: Mapping[str, AsyncKeySource], types: Collection[str], clock: Callable[[], float]
    ) -> None:
        if not isinstance(issuers, Mapping) or not issuers:
            raise ConfigurationError("issuers: map the URL of each trusted issuer to a key source")
        for source in issuers.values():
            check_source("issuers", source)
        if isinstance(types, str) or not types:
            raise ConfigurationError('types: list the types of tokens, such as ("aa-agent+jwt",)')
        self._issuers = dict(issuers)
        self._types = frozenset(kind.lower() for kind in types)
        self._clock = clock

    def question(self, lookup: KeyLookup) -> Question:
        value = lookup.covered_value(_FIELD)
        if value is None:
            raise KeySourceError("signature_identity_missing", f"the signature covers no {_FIELD}")
        token = read_token(_token(value, lookup.label), types=self._types)
        if token.issuer not in self._issuers:
            raise KeySourceError("signature_jwks_untrusted", "issuers: the issuer of the token is not one of them")
        return Question(token, self._issuers[token.issuer])

    def key(self, question: Question, lookup: KeyLookup) -> VerificationKey:
        key = question.token.bound_key(now=self._clock(), algorithms=_ALGORITHMS)
        if lookup.keyid and lookup.keyid not in {key.keyid, key.thumbprint}:
            raise token_error("the keyid of the signature is another key than the one in its cnf")
        return key


class SignatureKeyTokens(TokenSource):
    """The keys that are bound to the JWT in the Signature-Key of a request, for `profiles.AAUTH`. Experimental.

    The owner of a key is the subject of its token.

    Args:
        issuers: the keys of each trusted issuer, by the issuer's URL as tokens have it in `iss`.
        types: the accepted types (`typ`) of tokens.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: an argument has the wrong type or value, or the answers of a source have to be awaited.
    """

    __slots__ = ()

    def __init__(
        self, issuers: Mapping[str, KeySource], *, types: Collection[str], clock: Callable[[], float] = time.time
    ) -> None:
        # The rule checks that `issuers` is a mapping.
        rule = _Rule(issuers, types, clock)
        super().__init__(rule, issuers.values())


class AsyncSignatureKeyTokens(AsyncTokenSource):
    """`SignatureKeyTokens` for an `AsyncVerifier`: the answers of the issuers' sources may be awaitable."""

    __slots__ = ()

    def __init__(
        self, issuers: Mapping[str, AsyncKeySource], *, types: Collection[str], clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(_Rule(issuers, types, clock))


def _token(value: str, label: str) -> str:
    """Return the JWT of the member of Signature-Key that is for the signature with this label."""
    try:
        ParserBudget().spend(value)
        scheme, parameters = parse_dictionary(value).get(label, (None, {}))
    except MalformedField as fault:
        raise KeySourceError("signature_identity_malformed", f"Signature-Key: {fault}") from None
    token = parameters.get("jwt")
    if type(scheme) is str or str(scheme) != _SCHEME or type(token) is not str:
        raise token_error("Signature-Key has no member for the signature by the scheme jwt")
    return token

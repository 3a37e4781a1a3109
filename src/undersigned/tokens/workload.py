"""Workload identity tokens: the keys of WIMSE requests (draft-ietf-wimse-http-signature-07, section 3)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from undersigned.errors import KeySourceError
from undersigned.tokens.jwt import read_token
from undersigned.tokens.source import AsyncTokenSource, Question, TokenSource, check_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySource
    from undersigned.signature.verification_key import VerificationKey

_FIELD: Final = "workload-identity-token"
_TYPE: Final = "wit+jwt"


class _Rule:
    """The rule for WIMSE messages."""

    __slots__ = ("_clock", "_issuers")

    def __init__(self, issuers: AsyncKeySource, clock: Callable[[], float]) -> None:
        check_source("issuers", issuers)
        self._issuers = issuers
        self._clock = clock

    def question(self, lookup: KeyLookup) -> Question:
        value = lookup.covered_value(_FIELD)
        if value is None:
            raise KeySourceError("signature_identity_missing", f"the signature covers no {_FIELD}")
        return Question(read_token(value, types=(_TYPE,)), self._issuers)

    def key(self, question: Question, lookup: KeyLookup) -> VerificationKey:  # noqa: ARG002 - as the protocol has it
        return question.token.bound_key(now=self._clock())


class WorkloadTokenKeys(TokenSource):
    """The keys that are bound to the Workload-Identity-Token of a message, for `profiles.WIMSE`.

    The owner of a key is the subject of its token. The issuer that a token names is never asked.

    Args:
        issuers: the keys of the issuers that are trusted, by the `kid` of a token: a `KeySet`, or another source.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: `issuers` is not a key source, or its answers have to be awaited.
    """

    __slots__ = ()

    def __init__(self, issuers: KeySource, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(_Rule(issuers, clock), (issuers,))


class AsyncWorkloadTokenKeys(AsyncTokenSource):
    """`WorkloadTokenKeys` for an `AsyncVerifier`: the answers of `issuers` may be awaitable."""

    __slots__ = ()

    def __init__(self, issuers: AsyncKeySource, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(_Rule(issuers, clock))

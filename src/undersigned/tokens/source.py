"""Token sources: the common part of key sources that verify a token, and return the key that is bound to it."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from undersigned.errors import ConfigurationError
from undersigned.signature.key_source import is_awaited, is_key_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySource
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.tokens.jwt import Token


class Question(NamedTuple):
    """A token, and the source of its issuer's keys."""

    token: Token
    issuer: AsyncKeySource

    def ask(self, lookup: KeyLookup) -> object:
        """Return what the issuer's source answers. It may block."""
        return self.issuer.find(lookup._replace(keyid=self.token.keyid))

    def async_ask(self, lookup: KeyLookup) -> object:
        """Return what the issuer's source answers, which may have to be awaited."""
        find: Callable[[KeyLookup], object] = getattr(self.issuer, "async_find", self.issuer.find)
        return find(lookup._replace(keyid=self.token.keyid))


class Rule(Protocol):
    """A rule that finds the token of a message, and the key that is bound to it."""

    def question(self, lookup: KeyLookup) -> Question:
        """Return the token of a message, and the source of its issuer's keys.

        Raises:
            KeySourceError: the message has no token, or its token cannot be read or is of another issuer.
        """
        ...

    def key(self, question: Question, lookup: KeyLookup) -> VerificationKey:
        """Return the key that is bound to a verified token.

        Raises:
            KeySourceError: the token has expired, or has no key for this signature.
        """
        ...


class TokenSource:
    """A key source that verifies the token of a message, and returns the key that is bound to it."""

    __slots__ = ("_blocking", "_rule")

    def __init__(self, rule: Rule, issuers: Collection[KeySource]) -> None:
        if any(map(is_awaited, issuers)):
            raise ConfigurationError(f"issuers: its answers have to be awaited; use Async{type(self).__name__}")
        self._rule = rule
        self._blocking = any(getattr(source, "blocking", True) for source in issuers)

    @property
    def blocking(self) -> bool:
        """Whether looking for the keys of an issuer may block."""
        return self._blocking

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the key that is bound to the token.

        Raises:
            KeySourceError: there is no token, or it cannot be trusted.
        """
        question = self._rule.question(lookup)
        question.token.check_issuer(cast("Sequence[VerificationKey]", question.ask(lookup)))
        return (self._rule.key(question, lookup),)


class AsyncTokenSource:
    """`TokenSource` for an `AsyncVerifier`."""

    __slots__ = ("_rule",)

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    async def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """As `TokenSource.find`."""
        question = self._rule.question(lookup)
        answer = question.async_ask(lookup)
        keys = await answer if isawaitable(answer) else answer
        question.token.check_issuer(cast("Sequence[VerificationKey]", keys))
        return (self._rule.key(question, lookup),)


def check_source(option: str, source: object) -> None:
    """Check that `source` is a key source.

    Raises:
        ConfigurationError: it is not.
    """
    if not is_key_source(source):
        raise ConfigurationError(f"{option}: pass a key source, such as KeySet.from_jwks(jwks)")

"""Identifiers: URLs as the keys of a registry, compared by canonical form (AdCP, "Where it applies").

Use an `IdentifierSet` to look up `authorized_agents[].url`, an `agent_url` or any other URL that is a primary key.
Registered URLs and URLs to look up both come from peers, so both are canonicalized as received.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned.errors import MalformedURL, UndersignedError
from undersigned.url.canonical import CanonicalURL, canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class MalformedIdentifier(UndersignedError, ValueError):
    """Raised when an identifier has no canonical form and so matches nothing. The message has no control characters.

    Attributes:
        code: the caller's error code, such as `seller_not_authorized`.
        rule: the name of the rule that rejected the identifier.
        position: the index of the registered identifier, from 0; `None` for an identifier that was looked up.
    """

    def __init__(self, message: str, *, code: str = "", rule: str = "", position: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.rule = rule
        self.position = position


class Identifier(NamedTuple):
    """A registered identifier.

    Attributes:
        canonical: the canonical form, which is the key.
        spellings: the spellings that were registered, in order.
        positions: the indexes of the registered URLs, from 0.
    """

    canonical: CanonicalURL
    spellings: tuple[str, ...]
    positions: tuple[int, ...]


class IdentifierSet:
    """A set of identifiers keyed by canonical form.

    A malformed registered identifier is left out and listed in `malformed`; the set still works. Looking up a
    malformed identifier raises. Time is linear in what is registered.

    Args:
        urls: the registered identifiers.
        code: the error code for a malformed identifier.

    Raises:
        TypeError: an identifier is not a `str`.

    Attributes:
        code: as given.
        malformed: the registered identifiers without a canonical form, as errors.
    """

    __slots__ = ("_found", "code", "malformed")

    def __init__(self, urls: Iterable[str], *, code: str) -> None:
        registered: dict[CanonicalURL, list[tuple[int, str]]] = {}
        malformed: list[MalformedIdentifier] = []
        for position, url in enumerate(urls):
            try:
                registered.setdefault(canonicalize(url, received=True), []).append((position, url))
            except MalformedURL as error:
                malformed.append(MalformedIdentifier(str(error), code=code, rule=error.rule, position=position))
        self.code = code
        self.malformed = tuple(malformed)
        self._found = {
            canonical: Identifier(
                canonical, tuple(dict.fromkeys(url for _, url in several)), tuple(position for position, _ in several)
            )
            for canonical, several in registered.items()
        }

    def find(self, url: str) -> Identifier | None:
        """Return the identifier that has the canonical form of `url`, or `None`.

        Raises:
            MalformedIdentifier: `url` has no canonical form as received.
            TypeError: `url` is not a `str`.
        """
        try:
            return self._found.get(canonicalize(url, received=True))
        except MalformedURL as error:
            raise MalformedIdentifier(str(error), code=self.code, rule=error.rule) from None

    def __contains__(self, url: str) -> bool:
        """Return whether `url` is one of the identifiers; raise the errors of `find`."""
        return self.find(url) is not None

    def __iter__(self) -> Iterator[Identifier]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    @property
    def conflicts(self) -> tuple[Identifier, ...]:
        """The identifiers that were registered in more than one spelling."""
        return tuple([identifier for identifier in self if len(identifier.spellings) > 1])

"""Identifiers: URLs as the keys of a registry, compared by canonical form (AdCP, "Where it applies").

Use an `IdentifierSet` to look up `authorized_agents[].url`, an `agent_url` or any other URL that is a primary key.
Registered URLs and URLs to look up both come from peers, so both are canonicalized as received.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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

    def __init__(self, message: str, *, code: str, rule: str, position: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.rule = rule
        self.position = position

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_error, (str(self), self.code, self.rule, self.position)


def _rebuild_error(message: str, code: str, rule: str, position: int | None) -> MalformedIdentifier:
    return MalformedIdentifier(message, code=code, rule=rule, position=position)


@dataclass(frozen=True, slots=True)
class Identifier:
    """A registered identifier.

    Attributes:
        canonical: the canonical form, which is the key.
        spellings: the spellings that were registered, in order.
        positions: the indexes of the registered URLs, from 0.
    """

    canonical: CanonicalURL
    spellings: tuple[str, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True, init=False)
class IdentifierSet:
    """A set of identifiers keyed by canonical form.

    A malformed registered identifier is left out and listed in `malformed`; the set still works. Looking up a
    malformed identifier raises.

    Args:
        urls: the registered identifiers.
        code: the error code for a malformed identifier.

    Raises:
        TypeError: an identifier is not a `str`.

    Attributes:
        code: as given.
        malformed: the registered identifiers without a canonical form, as errors.
    """

    code: str
    malformed: tuple[MalformedIdentifier, ...]
    _found: dict[str, Identifier] = field(repr=False)

    def __init__(self, urls: Iterable[str], *, code: str) -> None:
        found: dict[str, Identifier] = {}
        malformed: list[MalformedIdentifier] = []
        for position, url in enumerate(urls):
            try:
                canonical = canonicalize(url, received=True)
            except MalformedURL as error:
                malformed.append(_malformed_error(error, code, position))
                continue
            known = found.get(canonical.target_uri, Identifier(canonical, (), ()))
            spellings = known.spellings if url in known.spellings else (*known.spellings, url)
            found[canonical.target_uri] = Identifier(canonical, spellings, (*known.positions, position))
        assign = object.__setattr__
        assign(self, "code", code)
        assign(self, "malformed", tuple(malformed))
        assign(self, "_found", found)

    def find(self, url: str) -> Identifier | None:
        """Return the identifier that has the canonical form of `url`, or `None`.

        Raises:
            MalformedIdentifier: `url` has no canonical form as received.
            TypeError: `url` is not a `str`.
        """
        try:
            return self._found.get(canonicalize(url, received=True).target_uri)
        except MalformedURL as error:
            raise _malformed_error(error, self.code, None) from None

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


def _malformed_error(error: MalformedURL, code: str, position: int | None) -> MalformedIdentifier:
    return MalformedIdentifier(str(error), code=code, rule=error.rule, position=position)

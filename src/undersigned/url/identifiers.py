"""Identifiers: URLs as the keys of a registry, each known by its canonical form (AdCP, "Where it applies").

An `IdentifierSet` is what `authorized_agents[].url`, an `agent_url` or any other URL that is a primary key is looked
up in. Who registers and who asks are both peers, so both are compared as received.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, UndersignedError
from undersigned.url.canonical import CanonicalURL, canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class MalformedIdentifier(UndersignedError, ValueError):
    """An identifier that has no canonical form, so that it matches nothing. The message is free of control characters.

    Attributes:
        code: the error code of who compares, such as `seller_not_authorized`.
        rule: the name of the rule that refused.
        position: which one of the registered identifiers it is, from 0; `None` for one that was asked about.
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
    """One registered identifier.

    Attributes:
        canonical: its canonical form, which is the key.
        spellings: the ways it was written, the first one first.
        positions: where it stood among what was registered, from 0.
    """

    canonical: CanonicalURL
    spellings: tuple[str, ...]
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True, init=False)
class IdentifierSet:
    """A set of identifiers keyed by canonical form.

    A malformed identifier does not take the others down with it: it is left out, and stands in `malformed`. One that
    is asked about raises.

    Args:
        urls: the identifiers as registered.
        code: the error code for a malformed one.

    Raises:
        TypeError: an identifier is not a `str`.

    Attributes:
        code: as given.
        malformed: the registered identifiers that have no canonical form, as the errors they are.
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
            except MalformedURL as refusal:
                malformed.append(_malformed(refusal, code, position))
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
        except MalformedURL as refusal:
            raise _malformed(refusal, self.code, None) from None

    def __contains__(self, url: str) -> bool:
        """Tell whether `url` is one of the identifiers; raises as `find` does."""
        return self.find(url) is not None

    def __iter__(self) -> Iterator[Identifier]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)

    @property
    def conflicts(self) -> tuple[Identifier, ...]:
        """The identifiers that were registered in more than one spelling."""
        return tuple([identifier for identifier in self if len(identifier.spellings) > 1])


def _malformed(refusal: MalformedURL, code: str, position: int | None) -> MalformedIdentifier:
    return MalformedIdentifier(str(refusal), code=code, rule=refusal.rule, position=position)

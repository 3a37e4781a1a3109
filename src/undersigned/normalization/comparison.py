"""Comparison: how far two identifiers have to be normalized before they are equal (IRI draft section 4).

The ladder goes from what is cheap and certain to what misses fewer equivalences. Each rung's policy begins with the
rules of the rung below it, so that what is equal on a rung is equal on every higher one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from undersigned.errors import MalformedURL
from undersigned.normalization.heuristics import trailing_slash
from undersigned.normalization.reference import absolute
from undersigned.normalization.rule_sets import IRI, IRI_SYNTAX, RFC3986_SCHEME, RFC3986_SYNTAX
from undersigned.url.syntax import fragment
from undersigned.url.value import URL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.url.rule import Meaning, Rule
    from undersigned.url.rule_set import RuleSet

Purpose = Literal["reference", "action", "token"]
"""What a comparison is for. `action`: to select or avoid a network action, so that fragments are excluded. `token`:
identity tokens without a protocol, which are compared as strings (IRI draft section 2)."""

_WEAKEST_LAST: Final[tuple[Meaning, ...]] = ("always", "usually", "never")


class Rung(NamedTuple):
    """A rung of a ladder: its name, and what is done to both identifiers before their texts are compared."""

    name: str
    policy: RuleSet


Ladder: TypeAlias = tuple[Rung, ...]
"""Rungs, the lowest first."""

IRI_LADDER: Final[Ladder] = (
    Rung("string", (absolute,)),
    Rung("syntax", IRI_SYNTAX),
    Rung("scheme", IRI),
    Rung("protocol", (*IRI, trailing_slash)),
)
"""The comparison ladder (IRI draft section 4). Its top rung guesses at a redirect, so it is no equivalence yet."""

RFC3986_LADDER: Final[Ladder] = (
    Rung("string", (absolute,)),
    Rung("syntax", RFC3986_SYNTAX),
    Rung("scheme", RFC3986_SCHEME),
    Rung("protocol", (*RFC3986_SCHEME, trailing_slash)),
)
"""The same for URIs (RFC 3986 section 6.2)."""

_TOKENS: Final[Ladder] = (Rung("string", ()),)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two texts first differ.

    Attributes:
        part: the part of the URL, by its name in `URL`.
        a: the part in the one; `None` where it is absent.
        b: the part in the other.
        at: how many characters the two whole texts have in common up to there.
    """

    part: str
    a: str | None
    b: str | None
    at: int


@dataclass(frozen=True, slots=True)
class Equivalence:
    """How two identifiers compare. It is true where they are equivalent.

    Attributes:
        a: the one, as given.
        b: the other.
        rung: the first rung on which they are equal; `None` where they are on none.
        rules: the rules it took, in order: without any of them they would differ.
        forms: the texts that were compared, on that rung or on the highest.
        preserves: the weakest class of the rules it took; `None` where they are not equal.
        difference: the first difference that remains; `None` where they are equal.
    """

    a: str
    b: str
    rung: str | None
    rules: tuple[Rule, ...]
    forms: tuple[str, str]
    preserves: Meaning | None
    difference: Difference | None

    @property
    def equivalent(self) -> bool:
        """Whether they are equal by rules that always preserve what a URL identifies."""
        return self.preserves == "always"

    def __bool__(self) -> bool:
        return self.equivalent


def compare(a: str, b: str, *, ladder: Ladder = IRI_LADDER, purpose: Purpose = "reference") -> Equivalence:
    """Return on which rung of `ladder` two identifiers first become equal, and by which rules.

    That they are on none does not say that they identify different things.

    Raises:
        MalformedURL: a rung that was needed refuses one of them, as those built in refuse a relative reference.
        TypeError: one of them is not a `str`.
    """
    urls = URL.parse(a), URL.parse(b)
    excluded: RuleSet = (fragment,) if purpose == "action" else ()
    forms = a, b
    for rung in _TOKENS if purpose == "token" else ladder:
        policy = (*excluded, *rung.policy)
        one, other = (_follow(policy, url) for url in urls)
        forms = one, other
        if one == other:
            taken = _needed(policy, urls)
            # Who excludes fragments says so of all URLs; it takes nothing from what these two mean.
            weakest = max([_WEAKEST_LAST.index(rule.preserves) for rule in taken if rule not in excluded], default=0)
            return Equivalence(a, b, rung.name, taken, forms, _WEAKEST_LAST[weakest], None)
    return Equivalence(a, b, None, (), forms, None, _difference(*forms))


def _follow(policy: Sequence[Rule], url: URL) -> str:
    for rule in policy:
        url = rule.apply(url)
    return str(url)


def _needed(policy: RuleSet, urls: tuple[URL, URL]) -> tuple[Rule, ...]:
    changed = {rule for url in urls for rule in _changing(policy, url)}
    needed = tuple([rule for rule in policy if rule in changed])
    for rule in needed:
        others = tuple([other for other in needed if other is not rule])
        if _meet(others, urls):
            needed = others
    return needed


def _changing(policy: RuleSet, url: URL) -> Iterator[Rule]:
    for rule in policy:
        before, url = url, rule.apply(url)
        if url != before:
            yield rule


def _meet(policy: RuleSet, urls: tuple[URL, URL]) -> bool:
    try:
        one, other = (_follow(policy, url) for url in urls)
    except MalformedURL:
        return False
    return one == other


def _difference(a: str, b: str) -> Difference:
    at = next((at for at, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    pairs = zip(URL._fields, URL.parse(a), URL.parse(b), strict=True)
    part, one, other = next(pair for pair in pairs if pair[1] != pair[2])
    return Difference(part, one, other, at)

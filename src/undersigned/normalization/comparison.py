"""Comparison: how much normalization two identifiers need before they are equal (IRI draft section 4).

The lowest rung of a ladder is the cheapest and most certain; each higher rung misses fewer equivalences. The rules of
a rung begin with the rules of the rung below it. Identifiers that are equal on one rung are equal on all higher rungs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from undersigned.errors import MalformedURL
from undersigned.normalization.heuristics import trailing_slash
from undersigned.normalization.reference import absolute
from undersigned.normalization.rule_sets import IRI, IRI_SYNTAX, RFC3986_SCHEME, RFC3986_SYNTAX
from undersigned.url.parts import URL
from undersigned.url.scheme_and_authority import fragment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.url.rule import Rule
    from undersigned.url.rule_set import RuleSet

Purpose = Literal["reference", "action", "token"]
"""The purpose of a comparison. `action`: to select or avoid a network action, so fragments are excluded. `token`: to
compare identity tokens without a protocol, as plain strings (IRI draft section 2)."""

Meaning = Literal["always", "usually", "never"]
"""Whether a rule's result always, usually or never identifies the same thing as its input."""

_WEAKEST_LAST: Final[tuple[Meaning, ...]] = ("always", "usually", "never")


class Rung(NamedTuple):
    """A rung of a ladder: its name, and the rules to apply to both identifiers before their texts are compared."""

    name: str
    rules: RuleSet


Ladder: TypeAlias = tuple[Rung, ...]
"""Rungs from the lowest to the highest."""

IRI_LADDER: Final[Ladder] = (
    Rung("string", (absolute,)),
    Rung("syntax", IRI_SYNTAX),
    Rung("scheme", IRI),
    Rung("protocol", (*IRI, trailing_slash)),
)
"""The comparison ladder (IRI draft section 4). Its top rung guesses at a redirect and does not prove equivalence."""

RFC3986_LADDER: Final[Ladder] = (
    Rung("string", (absolute,)),
    Rung("syntax", RFC3986_SYNTAX),
    Rung("scheme", RFC3986_SCHEME),
    Rung("protocol", (*RFC3986_SCHEME, trailing_slash)),
)
"""The comparison ladder for URIs (RFC 3986 section 6.2)."""

_TOKENS: Final[Ladder] = (Rung("string", ()),)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between two texts.

    Attributes:
        part: the name of the differing part, as in `URL`.
        a: this part of the first text; `None` if it is absent.
        b: this part of the second text; `None` if it is absent.
        at: the number of leading characters that the whole texts have in common.
    """

    part: str
    a: str | None
    b: str | None
    at: int


@dataclass(frozen=True, slots=True)
class Equivalence:
    """The result of comparing two identifiers. It is true if they are equivalent.

    Attributes:
        a: the first identifier, as given.
        b: the second identifier, as given.
        rung: the first rung on which they are equal; `None` if they are equal on no rung.
        rules: the rules that made them equal, in order. Without any one of these rules they would differ.
        forms: the two texts that were compared, on that rung or on the highest.
        preserves: the weakest class of these rules; `None` if the identifiers are not equal.
        difference: the first remaining difference; `None` if the identifiers are equal.
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
        """Whether they are equal by rules that always preserve the identity of the URL."""
        return self.preserves == "always"

    def __bool__(self) -> bool:
        return self.equivalent


def compare(a: str, b: str, *, ladder: Ladder = IRI_LADDER, purpose: Purpose = "reference") -> Equivalence:
    """Return the lowest rung of `ladder` on which two identifiers are equal, and the rules that made them equal.

    Identifiers that are equal on no rung may still identify one thing.

    Raises:
        MalformedURL: a rule of a rung rejected one of them. The built-in ladders reject a relative reference.
        TypeError: one of them is not a `str`.
    """
    urls = URL.parse(a), URL.parse(b)
    excluded: RuleSet = (fragment,) if purpose == "action" else ()
    forms = a, b
    for rung in _TOKENS if purpose == "token" else ladder:
        rules = (*excluded, *rung.rules)
        one, other = (_apply(rules, url) for url in urls)
        forms = one, other
        if one == other:
            needed = _needed_rules(rules, urls)
            # The caller excludes fragments for every URL, so the class of that rule does not weaken this result.
            weakest = max([_WEAKEST_LAST.index(rule.preserves) for rule in needed if rule not in excluded], default=0)
            return Equivalence(a, b, rung.name, needed, forms, _WEAKEST_LAST[weakest], None)
    return Equivalence(a, b, None, (), forms, None, _difference(*forms))


def _apply(rules: Sequence[Rule], url: URL) -> str:
    for rule in rules:
        url = rule.apply(url)
    return str(url)


def _needed_rules(rules: RuleSet, urls: tuple[URL, URL]) -> tuple[Rule, ...]:
    changed = {rule for url in urls for rule in _effective_rules(rules, url)}
    needed = tuple([rule for rule in rules if rule in changed])
    for rule in needed:
        others = tuple([other for other in needed if other is not rule])
        if _are_equal_by(others, urls):
            needed = others
    return needed


def _effective_rules(rules: RuleSet, url: URL) -> Iterator[Rule]:
    for rule in rules:
        before, url = url, rule.apply(url)
        if url != before:
            yield rule


def _are_equal_by(rules: RuleSet, urls: tuple[URL, URL]) -> bool:
    try:
        one, other = (_apply(rules, url) for url in urls)
    except MalformedURL:
        return False
    return one == other


def _difference(a: str, b: str) -> Difference:
    at = next((at for at, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    pairs = zip(URL._fields, URL.parse(a), URL.parse(b), strict=True)
    part, one, other = next(pair for pair in pairs if pair[1] != pair[2])
    return Difference(part, one, other, at)

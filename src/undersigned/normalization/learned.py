"""Rules learned from a list of URLs: different URLs with similar text (Schonfeld, Bar-Yossef and Keidar, 2006).

Two URLs of a site that differ in one place alone are evidence that what stands there in the one may stand for what
stands there in the other. The more pairs say so, the likelier; only a look at both resources would prove it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.url.rule import Rule, quote
from undersigned.url.value import URL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LONGEST_URL: Final = 128
"""URLs of more words and delimiters than this are left out."""

LONGEST_SUBSTRING: Final = 6
"""How many words and delimiters a learned substring has at most."""

MOST_ALTERNATIVES: Final = 6
"""Where a place has more texts than this, they are values and not spellings of one."""

_TOKEN: Final = re.compile(r"[0-9A-Za-z]++|.", re.DOTALL)
_END: Final = ""
_ROOT: Final = 0


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A substring rule and what supports it.

    Attributes:
        before: what stands in front of the substring, in every pair; `None` where it varies, `""` for the start.
        found: the substring.
        replacement: what stands for it: shorter, or of the same length and earlier in the alphabet.
        after: what stands behind it, in every pair; `None` where it varies, `""` for the end.
        support: how many pairs of URLs in the list differ in just this.
    """

    before: str | None
    found: str
    replacement: str
    after: str | None
    support: int

    @property
    def rule(self) -> Rule:
        """The rule as a policy takes it."""
        pattern = re.compile(_behind(self.before, self.found) + re.escape(self.found) + _ahead(self.after, self.found))

        def apply(url: URL) -> URL:
            text = str(url)
            changed = pattern.sub(lambda _: self.replacement, text)
            return url if changed == text else URL.parse(changed)

        apply.__doc__ = f"Replace {quote(self.found)} by {quote(self.replacement)}, as {self.support} pairs of URLs do."
        return Rule("learned", "Wikipedia, Normalization based on URI lists; Schonfeld et al. 2006", "never", apply)


class _Place(NamedTuple):
    """Where a URL may differ from another: between a node of the trie of beginnings and one of that of endings."""

    beginning: int
    ending: int


class _Evidence(NamedTuple):
    support: int
    before: str | None
    after: str | None


def learn_rules(urls: Iterable[str], *, min_support: int = 3) -> tuple[LearnedRule, ...]:
    """Return the substring rules that a list of URLs supports, the best supported first.

    Time and memory are linear in the length of the list. Nothing is applied: a learned rule is a guess, and goes into
    a policy by its `rule`.

    Args:
        urls: absolute URLs, such as those of a crawl or a log; repeated ones count once.
        min_support: how many pairs a rule needs.
    """
    # In order: the same list gives the same rules.
    listed = [tokens for url in dict.fromkeys(urls) if len(tokens := _TOKEN.findall(url)) <= LONGEST_URL]
    evidence = _evidence(_alternatives(listed))
    learned = [
        LearnedRule(found.before, longer, shorter, found.after, found.support)
        for (longer, shorter), found in evidence.items()
        if found.support >= min_support
    ]
    return tuple(sorted(learned, key=lambda rule: (-rule.support, rule.found, rule.replacement)))


class _Trie:
    """Beginnings of token sequences, each a number."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, str], int] = {}
        self._branches: Counter[int] = Counter()

    def walk(self, tokens: Iterable[str]) -> list[int]:
        """Return the nodes of all beginnings of `tokens`, the empty one first."""
        path = [_ROOT]
        for token in tokens:
            path.append(self._step(path[-1], token))
        self._step(path[-1], _END)
        return path

    def parts(self, node: int) -> bool:
        """Tell whether sequences that begin alike go on differently from here."""
        return self._branches[node] > 1

    def _step(self, node: int, token: str) -> int:
        key = (node, token)
        if key not in self._nodes:
            self._nodes[key] = len(self._nodes) + 1
            self._branches[node] += 1
        return self._nodes[key]


def _alternatives(listed: Sequence[list[str]]) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Yield what stands before and behind a place, and the token sequences found there."""
    beginnings, endings = _Trie(), _Trie()
    paths = [(beginnings.walk(tokens), endings.walk(reversed(tokens))) for tokens in listed]
    places: defaultdict[_Place, list[tuple[list[str], int, int]]] = defaultdict(list)
    for tokens, (forward, backward) in zip(listed, paths, strict=True):
        length = len(tokens)
        # Two URLs part where their beginnings do, and nowhere else.
        for start in (start for start in range(length + 1) if beginnings.parts(forward[start])):
            for end in range(start, min(start + LONGEST_SUBSTRING, length) + 1):
                found = places[_Place(forward[start], backward[length - end])]
                if len(found) <= MOST_ALTERNATIVES:
                    found.append((tokens, start, end))
    for found in places.values():
        if 1 < len(found) <= MOST_ALTERNATIVES:
            tokens, start, end = found[0]
            before = tokens[start - 1] if start else _END
            after = tokens[end] if end < len(tokens) else _END
            yield before, after, [tokens[start:end] for tokens, start, end in found]


def _evidence(alternatives: Iterable[tuple[str, str, list[list[str]]]]) -> dict[tuple[str, str], _Evidence]:
    evidence: dict[tuple[str, str], _Evidence] = {}
    for before, after, texts in alternatives:
        for one, other in combinations(texts, 2):
            if not _minimal(one, other, after):
                continue
            a, b = "".join(one), "".join(other)
            key = (a, b) if (len(a), a) > (len(b), b) else (b, a)
            known = evidence.get(key, _Evidence(0, before, after))
            evidence[key] = _Evidence(
                known.support + 1,
                before if known.before == before else None,
                after if known.after == after else None,
            )
    return evidence


def _minimal(one: Sequence[str], other: Sequence[str], after: str) -> bool:
    """Tell whether two texts of a place share neither their first nor their last token."""
    if one and other:
        return one[0] != other[0] and one[-1] != other[-1]
    # Of the places where one of two equal tokens may have been put, the last one stands for all.
    return (one or other)[0] != after


def _behind(before: str | None, found: str) -> str:
    if before is None:
        return r"(?<![0-9A-Za-z])" if found[0].isalnum() else ""
    if before == _END:
        return r"\A"
    neighbour = re.escape(before)
    return f"(?<={neighbour})" + (f"(?<![0-9A-Za-z]{neighbour})" if before.isalnum() else "")


def _ahead(after: str | None, found: str) -> str:
    if after is None:
        return r"(?![0-9A-Za-z])" if found[-1].isalnum() else ""
    if after == _END:
        return r"\Z"
    return f"(?={re.escape(after)}{'(?![0-9A-Za-z])' if after.isalnum() else ''})"

"""Rules learned from a list of URLs: different URLs with similar text (Schonfeld, Bar-Yossef and Keidar, 2006).

If two URLs of a site differ in one place only, the two texts in that place may be spellings of one thing. More such
pairs make it likelier. Only fetching both resources would prove it.
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
"""URLs with more words and delimiters than this are ignored."""

LONGEST_SUBSTRING: Final = 6
"""Upper bound on the words and delimiters of a learned substring."""

MOST_ALTERNATIVES: Final = 6
"""Upper bound on the texts found in one place. If there are more, they are values and not spellings of one thing."""

_TOKEN: Final = re.compile(r"[0-9A-Za-z]++|.", re.DOTALL)
_END: Final = ""
_ROOT: Final = 0


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A rule that replaces a substring, with the evidence for it.

    Attributes:
        before: the token before the substring in every pair; `None` if it varies, `""` for the start of the URL.
        found: the substring.
        replacement: the replacement: shorter than `found`, or equally long and earlier in the alphabet.
        after: the token after the substring in every pair; `None` if it varies, `""` for the end of the URL.
        support: the number of pairs of URLs that differ in exactly this substring.
    """

    before: str | None
    found: str
    replacement: str
    after: str | None
    support: int

    @property
    def rule(self) -> Rule:
        """The rule in the form that a rule set takes."""
        pattern = re.compile(
            _pattern_before(self.before, self.found) + re.escape(self.found) + _pattern_after(self.after, self.found)
        )

        def apply(url: URL) -> URL:
            text = str(url)
            changed = pattern.sub(lambda _: self.replacement, text)
            return url if changed == text else URL.parse(changed)

        apply.__doc__ = f"Replace {quote(self.found)} by {quote(self.replacement)}, as {self.support} pairs of URLs do."
        return Rule("learned", "Wikipedia, Normalization based on URI lists; Schonfeld et al. 2006", "never", apply)


class _Place(NamedTuple):
    """A place in which URLs may differ, between a node of the trie of beginnings and a node of the trie of endings."""

    beginning: int
    ending: int


class _Evidence(NamedTuple):
    support: int
    before: str | None
    after: str | None


def learn_rules(urls: Iterable[str], *, min_support: int = 3) -> tuple[LearnedRule, ...]:
    """Return the substring rules that a list of URLs supports, in descending order of support.

    Time and memory are linear in the length of the list. A learned rule is a guess. To apply it, put its `rule` into a
    rule set.

    Args:
        urls: absolute URLs, for example from a crawl or a log. Repeated URLs count once.
        min_support: the number of pairs that a rule needs.
    """
    # Keeps the order, so that equal lists give equal rules.
    listed = [tokens for url in dict.fromkeys(urls) if len(tokens := _TOKEN.findall(url)) <= LONGEST_URL]
    evidence = _evidence(_alternatives(listed))
    learned = [
        LearnedRule(found.before, longer, shorter, found.after, found.support)
        for (longer, shorter), found in evidence.items()
        if found.support >= min_support
    ]
    return tuple(sorted(learned, key=lambda rule: (-rule.support, rule.found, rule.replacement)))


class _Trie:
    """A trie of token sequences. Each beginning of a sequence has a number."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, str], int] = {}
        self._branches: Counter[int] = Counter()

    def walk(self, tokens: Iterable[str]) -> list[int]:
        """Return the nodes of all beginnings of `tokens`, from the empty one to the whole."""
        path = [_ROOT]
        for token in tokens:
            path.append(self._step(path[-1], token))
        self._step(path[-1], _END)
        return path

    def branches(self, node: int) -> bool:
        """Return whether the sequences that begin with this node continue with different tokens."""
        return self._branches[node] > 1

    def _step(self, node: int, token: str) -> int:
        key = (node, token)
        if key not in self._nodes:
            self._nodes[key] = len(self._nodes) + 1
            self._branches[node] += 1
        return self._nodes[key]


def _alternatives(listed: Sequence[list[str]]) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Yield the tokens before and after each place, and the token sequences in that place."""
    beginnings, endings = _Trie(), _Trie()
    paths = [(beginnings.walk(tokens), endings.walk(reversed(tokens))) for tokens in listed]
    places: defaultdict[_Place, list[tuple[list[str], int, int]]] = defaultdict(list)
    for tokens, (forward, backward) in zip(listed, paths, strict=True):
        length = len(tokens)
        # Two URLs can only differ from the token on at which their beginnings branch.
        for start in (start for start in range(length + 1) if beginnings.branches(forward[start])):
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
    """Return whether two texts of a place differ in their first token and in their last token."""
    if one and other:
        return one[0] != other[0] and one[-1] != other[-1]
    # A token that repeats its neighbour could be inserted in several places. Only the last of these places counts.
    return (one or other)[0] != after


def _pattern_before(before: str | None, found: str) -> str:
    if before is None:
        return r"(?<![0-9A-Za-z])" if found[0].isalnum() else ""
    if before == _END:
        return r"\A"
    neighbour = re.escape(before)
    return f"(?<={neighbour})" + (f"(?<![0-9A-Za-z]{neighbour})" if before.isalnum() else "")


def _pattern_after(after: str | None, found: str) -> str:
    if after is None:
        return r"(?![0-9A-Za-z])" if found[-1].isalnum() else ""
    if after == _END:
        return r"\Z"
    return f"(?={re.escape(after)}{'(?![0-9A-Za-z])' if after.isalnum() else ''})"

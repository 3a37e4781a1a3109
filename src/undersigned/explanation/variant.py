"""Variants: ways in which a request may have changed between signing and verifying, each as a small pure function."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from undersigned.errors import printable

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from undersigned.explanation.values import SignedValues

Part: TypeAlias = Literal[
    "method", "scheme", "authority", "path", "query", "target", "field", "content-digest", "content", "signature",
    "key", "profile",
]  # fmt: skip
"""The part of a request or of its signature that a variant changes."""

LONGEST_SHOWN: Final = 160
"""Upper bound on the characters of a value that a sentence shows."""

_SENTENCES: Final[Mapping[Part, str]] = {
    "key": "the signature is by the key {0}, and names the key {1}",
    "profile": "the request is verified by the profile {0}, and not by {1}",
    "signature": "{0}, expected {1}",
}
_BEFORE: Final = 20
_MOST_PLACES: Final = 24
_ALL_SUBSETS: Final = 5


class Alternative(NamedTuple):
    """Values that the sender may have signed instead.

    Attributes:
        values: the values.
        signed: the text of the changed part as the sender signed it.
        received: the text of the changed part as it was received.
        reason: the reason, if it says more than the reason of the variant.
    """

    values: SignedValues
    signed: str
    received: str
    reason: str = ""


class Variant(NamedTuple):
    """One kind of change.

    Attributes:
        name: its name.
        part: the part that it changes.
        reason: what usually causes it, and what to do: a sentence without a full stop.
        alternatives: yields what the sender may have signed, the most likely first.
    """

    name: str
    part: Part
    reason: str
    alternatives: Callable[[SignedValues], Iterable[Alternative]]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a request between signing and verifying. Its texts are printable ASCII.

    Attributes:
        variant: the name of the variant, such as `merged slashes`.
        part: the part that changed.
        signed: the part as the sender signed it, or an excerpt of it. For `key` and `profile`: the one that verifies
            the signature. For `signature`: how the field is written.
        received: the part as it was received, or an excerpt of it. For `key` and `profile`: the one that does not
            verify it. For `signature`: how it must be written.
        reason: what usually causes the change, and what to do.
    """

    variant: str
    part: Part
    signed: str
    received: str
    reason: str

    @classmethod
    def of(cls, variant: Variant, alternative: Alternative) -> Change:
        """Return the change from an alternative of a variant to what was received."""
        signed, received = _excerpts(alternative.signed, alternative.received)
        return cls(variant.name, variant.part, signed, received, alternative.reason or variant.reason)

    def __str__(self) -> str:
        """Return the change in a sentence."""
        words = _SENTENCES.get(self.part, "the sender signed {0}; you received {1}")
        return f"{self.variant}: {words.format(self.signed, self.received)}. {self.reason[:1].upper()}{self.reason[1:]}"


def rewritten(text: str, pattern: re.Pattern[str], replacement: str) -> Iterator[str]:
    """Yield `text` with matches of `pattern` replaced: all of them, then each alone, then several.

    `replacement` is a template as for `re.sub`. Only the first matches are replaced alone, so the number is bounded.
    """
    matches = list(pattern.finditer(text))
    if not matches:
        return
    yield pattern.sub(replacement, text)
    some = matches[:_MOST_PLACES]
    for size in range(1, len(some) if len(matches) <= _ALL_SUBSETS else 2):
        for chosen in combinations(some, size):
            yield _with(text, chosen, replacement)


def _with(text: str, matches: Iterable[re.Match[str]], replacement: str) -> str:
    """Return `text` with these matches replaced."""
    pieces: list[str] = []
    at = 0
    for match in matches:
        pieces += (text[at : match.start()], match.expand(replacement))
        at = match.end()
    return "".join([*pieces, text[at:]])


def _excerpts(signed: str, received: str) -> tuple[str, str]:
    """Return two texts without the beginning that they share, if they are long, as printable ASCII."""
    start = 0
    if max(len(signed), len(received)) > LONGEST_SHOWN:
        shorter = min(len(signed), len(received))
        shared = next((at for at in range(shorter) if signed[at] != received[at]), shorter)
        start = max(0, shared - _BEFORE)
    cut = "..." if start else ""
    return (
        f"{cut}{printable(signed[start:], limit=LONGEST_SHOWN)}",
        f"{cut}{printable(received[start:], limit=LONGEST_SHOWN)}",
    )

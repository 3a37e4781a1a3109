"""Differences between an expected and a found text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two texts that should be equal.

    Attributes:
        subject: the subject of the comparison, such as `code` or `signature base`.
        expected: the vector's text, or "" if the vector cannot be read.
        found: our text. Both texts may contain text from the vector's file, so escape them before showing them.
        note: a sentence about the origin of the found text, or "".
    """

    subject: str
    expected: str
    found: str
    note: str = ""

    @classmethod
    def between(cls, subject: str, expected: str, found: str, *, note: str = "") -> Difference | None:
        """Return the difference between two texts, or None if they are equal."""
        return None if expected == found else cls(subject, expected, found, note)

    @property
    def character(self) -> int:
        """The index of the first character that differs, or the length of the shorter text if it is a prefix."""
        pairs = zip(self.expected, self.found, strict=False)
        shorter = min(len(self.expected), len(self.found))
        return next((index for index, (left, right) in enumerate(pairs) if left != right), shorter)

    @property
    def byte(self) -> int:
        """The index of the first differing character in bytes of UTF-8. A signature base is ASCII."""
        return len(self.expected[: self.character].encode("utf-8", "surrogatepass"))

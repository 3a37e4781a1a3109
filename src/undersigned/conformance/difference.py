"""Differences: what a vector expects, what was found instead, and where the two part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts that should have been one.

    Attributes:
        what: what differs, such as `code` or `signature base`.
        expected: the vector's, or "" where it expects nothing because it cannot be read.
        found: ours. Both may hold text from the vector's file; escape them before they are shown.
        note: one sentence on how ours came to be, or "".
    """

    what: str
    expected: str
    found: str
    note: str = ""

    @classmethod
    def between(cls, what: str, expected: str, found: str, *, note: str = "") -> Difference | None:
        """Return the difference of two texts, or None where they are one."""
        return None if expected == found else cls(what, expected, found, note)

    @property
    def character(self) -> int:
        """The index of the first character that differs; of the end, where one text is the start of the other."""
        pairs = zip(self.expected, self.found, strict=False)
        shorter = min(len(self.expected), len(self.found))
        return next((index for index, (left, right) in enumerate(pairs) if left != right), shorter)

    @property
    def byte(self) -> int:
        """The same, counted in bytes of UTF-8; a signature base is ASCII."""
        return len(self.expected[: self.character].encode("utf-8", "surrogatepass"))

"""Values that strangers choose: the extremes of each type, and what a careless parser reads again and again."""

from __future__ import annotations


def hostile_values(size: int) -> dict[str, str]:
    """Return malformed byte sequences of about `size` characters, each the worst of its kind."""
    return {
        "escaped quotes": '"' + '\\"' * (size // 2),
        "escaped quotes in a parameter": 's=:AAAA:;p="' + '\\"' * (size // 2),
        "backslashes in a display string": 's=:AAAA:;p=%"' + "\\" * size,
        "colons": ":" * size,
        "colons and a quote": "s=" + ":" * size + '"',
        "bytes without an end": "s=:" + "A" * size,
        "keys, colons and quotes": 'a":' * (size // 3),
        "keys and colons": "a:" * (size // 2),
        "quotes": '"' * size,
        "display strings": '%"' * (size // 2),
    }


EXTREMES = {
    "dates": (
        "Fri, 31 Dec 9999 23:59:59 -0100", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 +0100",
        "Mon, 01 Jan 0001 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 +9999", "Sun, 31 Feb 2026 25:61:61 GMT",
        "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2026-02-31T00:00:00Z", "+10000-01-01T00:00:00Z",
    ),
    "integers": (
        "0", "-0", "-1", "1.5", "999999999999999", "-999999999999999", "9999999999999999", "253402300800",
        "9" * 400, "9" * 4000, "1e400", "-1e400", "1e-400", "0x10", "NaN", "Infinity",
        "@253402300800", "@-999999999999999",
    ),
    "lengths": ("", " ", "=", ":", "::", "a", "A" * 3, "A" * 4, "A" * 4000, "," * 40, "[" * 2000, '{"a":' * 500),
    "encodings": (
        "\x00", "\x7f", "\x80", "\xff", "\xe9", "\ufeff", "\u2028", "\ud800", "\U0010ffff", "%", "%ff", "%ud800",
        "=====", "AAA=", "-_-_", "+/+/", "\\", '"', "\\ud800",
    ),
}  # fmt: skip
"""The extremes of each type that a stranger may write into a field or a document."""

"""Values of signature fields that a careless parser reads again and again."""

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

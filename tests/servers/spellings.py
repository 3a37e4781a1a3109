"""Spellings of covered fields on the wire, each with the value that was signed: the same field, or another one."""

from __future__ import annotations

BLANKS = {"a space": " ", "a tab": "\t", "both": " \t ", "many": " " * 60, "none": ""}
ODD = {
    "a NUL": "\0",
    "a form feed": "\f",
    "a vertical tab": "\v",
    "a delete": "\x7f",
    "a next line": "\x85",
    "a no-break space": "\xa0",
    "a carriage return": "\r",
    "a line feed": "\n",
}


def _spellings():
    """Yield a name, the field and the value that are signed, and the lines that are sent."""
    for field, value in (("X-Order", "a, b=1"), ("Authorization", "Bearer abc"), ("Idempotency-Key", "k-1")):
        for place, blank in BLANKS.items():
            yield f"{field} after {place}", field, value, [f"{field}:{blank}{value}"]
            yield f"{field} before {place}", field, value, [f"{field}: {value}{blank}"]
        for what, odd in ODD.items():
            yield f"{field} after {what}", field, value, [f"{field}: {odd}{value}"]
            yield f"{field} before {what}", field, value, [f"{field}: {value}{odd}"]
        for name in (field.lower(), field.upper(), field.replace("-", "_"), f"{field} ", f" {field}"):
            yield f"{field} as {name!r}", field, value, [f"{name}: {value}"]
            yield f"{field} and {name!r}", field, value, [f"{field}: {value}", f"{name}: other"]
            yield f"{name!r} and {field}", field, value, [f"{name}: other", f"{field}: {value}"]
    for split in (["a", "b=1"], ["a ", "\tb=1"], ["a", "", "b=1"], ["b=1", "a"], ["a, b=1", ""], ["a, b=1", "a, b=1"]):
        yield f"X-Order in lines {split}", "X-Order", "a, b=1", [f"X-Order: {line}" for line in split]
    for split in (["a"], ["a,b=1"], ["a , b=1"], ["a,  b=1"], ["a", "b=1", "c"], ["a,\r\n b=1"], ["a,\r\n\tb=1"]):
        yield f"X-Order as {split}", "X-Order", "a, b=1", [f"X-Order: {line}" for line in split]
    yield "cookies in a line", "Cookie", "a=1; b=2", ["Cookie: a=1; b=2"]
    yield "cookies in two lines", "Cookie", "a=1; b=2", ["Cookie: a=1", "Cookie: b=2"]
    yield "cookies joined by commas", "Cookie", "a=1, b=2", ["Cookie: a=1", "Cookie: b=2"]
    yield "an empty field", "X-Order", "", ["X-Order:"]
    yield "a field apart", "X-Order", "a", ["X-Order: a", "X-Other: 1", "X-Order: "]


SPELLINGS = {name: (field, value, lines) for name, field, value, lines in _spellings()}

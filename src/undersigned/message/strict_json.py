"""Strict JSON: rejects text that two parsers could read differently, such as an object with a repeated key."""

from __future__ import annotations

import json
from collections import Counter
from typing import TypeAlias

from undersigned.errors import UndersignedError
from undersigned.limits import MOST_NAMES_KEPT

JSONValue: TypeAlias = "bool | int | float | str | list[JSONValue] | dict[str, JSONValue] | None"


class AmbiguousJSON(UndersignedError, ValueError):
    """Raised when two parsers could read a JSON text differently.

    Attributes:
        duplicates: at most four of the keys an object repeats; text from the sender.
    """

    def __init__(self, message: str, duplicates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.duplicates = duplicates


def loads(text: bytes | str) -> JSONValue:
    """Parse `text` (UTF-8 unless it starts like UTF-16 or UTF-32, as the standard library reads it).

    Raises:
        AmbiguousJSON: an object repeats a key at any depth, or a number is too long for Python. Or a value is NaN or
            Infinity, or the nesting is too deep.
        ValueError: `text` is not JSON (`json.JSONDecodeError`, `UnicodeDecodeError`).
    """
    decoded = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        value: JSONValue = _DECODER.decode(decoded)
    except (json.JSONDecodeError, AmbiguousJSON):
        raise
    except RecursionError:
        raise AmbiguousJSON("the JSON is nested too deeply to be checked") from None
    except ValueError:
        raise AmbiguousJSON("the JSON has a number too long to be read") from None
    return value


def _unique(pairs: list[tuple[str, JSONValue]]) -> dict[str, JSONValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
        raise AmbiguousJSON("a JSON object has duplicate keys", tuple(repeated[:MOST_NAMES_KEPT]))
    return value


def _reject_constant(_name: str) -> JSONValue:
    raise AmbiguousJSON("NaN and Infinity are not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_reject_constant)

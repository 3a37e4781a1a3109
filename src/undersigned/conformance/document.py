"""Documents: the JSON objects of a corpus, with readers that check each member."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.errors import UndersignedError
from undersigned.message.strict_json import AmbiguousJSON, loads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.strict_json import JSONValue

MOST = 999_999_999_999_999
"""The largest integer in a document (RFC 8941 section 3.3.1), so that sums of times stay valid."""


class MalformedVector(UndersignedError, ValueError):
    """Raised when a file or a member does not have the vectors' format. The message names it and quotes none of it."""


def read_json(data: bytes) -> JSONValue:
    """Return the value of a JSON text.

    Raises:
        MalformedVector: `data` is not JSON, or parsers would interpret it differently.
    """
    try:
        return loads(data)
    except AmbiguousJSON as ambiguous:
        raise MalformedVector(f"the file is JSON that parsers interpret differently: {ambiguous}") from None
    except json.JSONDecodeError as undecodable:
        raise MalformedVector(f"the file is not JSON from character {undecodable.pos + 1} on") from None
    except UnicodeDecodeError:
        raise MalformedVector("the file is not JSON: it is not UTF-8") from None


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object. Every reader raises `MalformedVector` if the member is absent or of another type."""

    members: Mapping[str, JSONValue]

    def __contains__(self, name: object) -> bool:
        """Return whether the member `name` exists and is not null."""
        return isinstance(name, str) and self.members.get(name) is not None

    def text_of(self) -> bytes:
        """Return the object as JSON text."""
        return json.dumps(self.members).encode("ascii")

    def text(self, name: str, default: str | None = None) -> str:
        """Return the string `name`, or `default` if it is given and the member is absent."""
        value = self.members.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, str):
            return value
        raise MalformedVector(f"{name} is not a string")

    def integer(self, name: str, default: int | None = None) -> int:
        """Return the integer `name`, of at most 15 digits, or `default` if it is given and the member is absent."""
        value = self.members.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST:
            return value
        raise MalformedVector(f"{name} is not a whole number from 0 to {MOST}")

    def flag(self, name: str, *, default: bool | None = None) -> bool:
        """Return the boolean `name`, or `default` if it is given and the member is absent."""
        value = self.members.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool):
            return value
        raise MalformedVector(f"{name} is not true or false")

    def texts(self, name: str) -> list[str]:
        """Return the list of strings `name`."""
        value = self.members.get(name)
        texts = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
        if not isinstance(value, list) or len(texts) != len(value):
            raise MalformedVector(f"{name} is not a list of strings")
        return texts

    def document(self, name: str) -> Document:
        """Return the object `name`."""
        value = self.members.get(name)
        if isinstance(value, dict):
            return Document(value)
        raise MalformedVector(f"{name} is not an object")

    def optional(self, name: str) -> Document:
        """Return the object `name`, or an empty object if it is absent."""
        return self.document(name) if name in self else Document({})

    def documents(self, name: str) -> list[Document]:
        """Return the list of objects `name`."""
        value = self.members.get(name)
        documents = [Document(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []
        if not isinstance(value, list) or len(documents) != len(value):
            raise MalformedVector(f"{name} is not a list of objects")
        return documents

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Return the (name, value) pairs `name`: an object, or a list of pairs in which a name may be repeated."""
        value = self.members.get(name)
        members: list[JSONValue] = [[key, item] for key, item in value.items()] if isinstance(value, dict) else []
        pairs: list[tuple[str, str]] = []
        for member in value if isinstance(value, list) else members:
            match member:
                case [str(key), str(item)]:
                    pairs.append((key, item))
                case _:
                    raise MalformedVector(f"{name} contains an item that is not a pair of strings")
        if not isinstance(value, (dict, list)):
            raise MalformedVector(f"{name} is neither an object nor a list of pairs")
        return pairs

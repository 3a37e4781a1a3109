"""Files of a corpus, as far as they can be read: JSON, or one HTTP request as text."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, cast

from undersigned.conformance.document import Document, MalformedVector, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.strict_json import JSONValue

_SUFFIXES: Final = frozenset({".json", ".txt"})
_REQUEST: Final = re.compile(r"([A-Z]+) (/\S*) HTTP/1\.1\r?\n")
_LINE: Final = re.compile(r"([!-9;-~]+):[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class VectorFile:
    """A file that was read.

    Attributes:
        path: the path in the corpus.
        value: its JSON value. A file with an HTTP request is an object with the member `http`.
    """

    path: PurePath
    value: JSONValue

    @property
    def document(self) -> Document:
        """The object that the file is, or an empty one."""
        return Document(self.value if isinstance(self.value, dict) else {})

    @property
    def documents(self) -> list[Document]:
        """The objects of the list that the file is, or none."""
        items = self.value if isinstance(self.value, list) else []
        return [Document(item) for item in items if isinstance(item, dict)]

    @property
    def name(self) -> str:
        """The name of the set: the path without its suffix."""
        return self.path.with_suffix("").as_posix()


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that cannot be read.

    Attributes:
        path: the path in the corpus.
        fault: why not.
    """

    path: PurePath
    fault: str


def files(directory: Path) -> Iterator[VectorFile | UnreadFile]:
    """Yield the files of a directory and its subdirectories, by path. A text that is neither JSON nor HTTP is left out.

    Raises:
        OSError: a directory cannot be read.
    """
    paths = [
        Path(folder, name)
        for folder, _, names in os.walk(directory, onerror=_raise)
        for name in names
        if Path(name).suffix in _SUFFIXES
    ]
    for path in sorted(paths):
        where = PurePath(path.relative_to(directory))
        try:
            value = _value(path)
        except MalformedVector as malformed:
            yield UnreadFile(where, str(malformed))
        else:
            if value is not None:
                yield VectorFile(where, value)


def _value(path: Path) -> JSONValue:
    try:
        data = path.read_bytes()
    except OSError as failure:
        raise MalformedVector(f"the file cannot be read: {failure.strerror}") from None
    try:
        return read_json(data)
    except MalformedVector:
        if path.suffix == ".txt":
            return _http(data)
        raise


def _http(data: bytes) -> JSONValue:
    """Return the request that a text is, as an object with `method`, `target` and `fields`, or None."""
    text = data.decode("latin-1")
    start = _REQUEST.match(text)
    if start is None:
        return None
    head, _, body = text[start.end() :].replace("\r\n", "\n").partition("\n\n")
    lines = [_LINE.fullmatch(line) for line in head.splitlines()]
    if None in lines:
        return None
    fields = [[match[1], match[2]] for match in cast("list[re.Match[str]]", lines)]
    return {"http": {"method": start[1], "target": start[2], "fields": cast("JSONValue", fields), "body": body}}


def _raise(error: OSError) -> None:
    raise error

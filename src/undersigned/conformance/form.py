"""Forms: the shapes in which vectors are published. A file is known by its shape, not by its name or place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.grade import Gradable, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undersigned.conformance.file import VectorFile
    from undersigned.conformance.keys import Keys


Parts = ParamSpec("Parts")


@dataclass(frozen=True, slots=True)
class Aside:
    """Vectors of a file that are not run.

    Attributes:
        count: how many.
        reason: why not.
    """

    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Form:
    """A shape of files with vectors.

    Attributes:
        is_form: whether a file has this shape.
        read: yields its vectors. It may raise MalformedVector, after the vectors that can be read.
        in_folder: whether each file is one vector, so that a folder is a set.
    """

    is_form: Callable[[VectorFile], bool]
    read: Callable[[VectorFile, Keys], Iterator[Gradable | Aside]]
    in_folder: bool = False


def has(file: VectorFile, *members: str) -> bool:
    """Return whether a file is an object with one of the members."""
    return any(member in file.document.members for member in members)


def has_in_list(file: VectorFile, member: str, *names: str) -> bool:
    """Return whether a file is an object with a list, of which an object has one of the names."""
    items = file.document.members.get(member)
    return isinstance(items, list) and any(isinstance(item, dict) and item.keys() & {*names} for item in items)


def named_objects(document: Document, member: str, name: str) -> Iterator[tuple[Document, str]]:
    """Yield the objects of a list, each with its name. An object whose name is not a string is named by its index."""
    for index, case in enumerate(document.documents(member)):
        given = case.members.get(name)
        yield case, given if isinstance(given, str) else f"{member}[{index}]"


def make_vector(
    make: Callable[Concatenate[str, Parts], Gradable], name: str, *parts: Parts.args, **named_parts: Parts.kwargs
) -> Gradable:
    """Return the vector that `make` makes of its name and parts, or one that fails because they are not a vector."""
    try:
        return make(name, *parts, **named_parts)
    except MalformedVector as malformed:
        return Unreadable(name, str(malformed))

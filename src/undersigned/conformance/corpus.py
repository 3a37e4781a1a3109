"""Corpora: the sets of vectors in a directory, and the vectors that are not run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.conformance import forms_adcp, forms_cases, forms_lists, forms_messages
from undersigned.conformance.document import MalformedVector
from undersigned.conformance.file import UnreadFile, VectorFile, files
from undersigned.conformance.form import Aside, has
from undersigned.conformance.grade import Gradable, Unreadable
from undersigned.conformance.keys import Keys, NamedKeys
from undersigned.conformance.vector import Vector
from undersigned.conformance.verdict import VerdictCase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path, PurePath

    from undersigned.conformance.document import Document
    from undersigned.conformance.form import Form

_FORMS: Final = (*forms_adcp.FORMS, *forms_cases.FORMS, *forms_messages.FORMS, *forms_lists.FORMS)
_OUTCOMES: Final = frozenset({"positive", "negative"})
_UNKNOWN: Final = "JSON files of no form that is known"


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one directory or file.

    Attributes:
        name: the path in the corpus.
        vectors: the vectors to grade.
    """

    name: str
    vectors: Sequence[Gradable]


@dataclass(frozen=True, slots=True)
class SetAside:
    """Vectors that are not run and not counted.

    Attributes:
        name: the path in the corpus.
        count: the number of vectors.
        reason: the reason why they are not run.
    """

    name: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """The vectors in a directory."""

    sets: Sequence[VectorSet]
    set_aside: Sequence[SetAside]

    def __len__(self) -> int:
        """Return the number of vectors that are run."""
        return sum(len(vectors.vectors) for vectors in self.sets)

    def by(self, profile: str) -> Corpus:
        """Return the vectors that are verified by a profile of this name, and none that are set aside."""
        sets = [VectorSet(one.name, [vector for vector in one.vectors if _is_by(vector, profile)]) for one in self.sets]
        return Corpus([one for one in sets if one.vectors], ())

    def __getitem__(self, name: str) -> VectorSet:
        """Return the set of that name, or an empty set if there is none."""
        return next((found for found in self.sets if found.name == name), VectorSet(name, ()))


def find(directory: Path) -> Corpus:
    """Find the vectors in a directory and in its subdirectories. A file is known by its shape.

    A file that cannot be read becomes a vector that fails. A file of another shape is not run, unless it has keys only.

    Raises:
        OSError: a directory cannot be read.
    """
    found = list(files(directory))
    read = [file for file in found if isinstance(file, VectorFile)]
    keys = _keys(read)
    sets: dict[str, list[Gradable]] = {}
    asides: Counter[tuple[str, str]] = Counter()
    for file in found:
        if isinstance(file, UnreadFile):
            sets.setdefault(_folder(file, directory), []).append(Unreadable(_unread(file), file.fault))
            continue
        form = next((form for form in _FORMS if form.is_form(file)), None)
        if form is None:
            if not (_is_ring(file) or _is_jwk(file)):
                asides[_folder(file, directory), _UNKNOWN] += 1
            continue
        name = _folder(file, directory) if form.in_folder else file.name
        for vector in _vectors(form, file, keys):
            if isinstance(vector, Aside):
                asides[name, vector.reason] += vector.count
            else:
                sets.setdefault(name, []).append(vector)
    return Corpus(
        [VectorSet(name, vectors) for name, vectors in sets.items()],
        [SetAside(name, count, reason) for (name, reason), count in asides.items()],
    )


def _is_by(vector: Gradable, profile: str) -> bool:
    if isinstance(vector, Vector):
        return vector.endpoint.profile.name == profile
    return isinstance(vector, VerdictCase) and vector.profile.name == profile


def _vectors(form: Form, file: VectorFile, keys: Keys) -> Iterator[Gradable | Aside]:
    """Yield the vectors of a file. If a part cannot be read, yield those before it and the fault."""
    try:
        yield from form.read(file, keys)
    except MalformedVector as malformed:
        yield Unreadable(file.path.name, str(malformed))


def _folder(file: VectorFile | UnreadFile, directory: Path) -> str:
    """Return the name of the set of a folder: its path, without the last part if that is an outcome."""
    parent = file.path.parent
    if parent.name in _OUTCOMES:
        parent = parent.parent
    return directory.name if parent.as_posix() == "." else parent.as_posix()


def _unread(file: UnreadFile) -> str:
    """Return the name of a file that cannot be read: the name of a vector if it is in the folder of an outcome."""
    parent = file.path.parent.name
    return f"{parent}/{file.path.stem}" if parent in _OUTCOMES else file.path.name


def _keys(read: Iterable[VectorFile]) -> Keys:
    read = list(read)
    rings: list[tuple[PurePath, list[Document]]] = []
    for file in filter(_is_ring, read):
        try:
            rings.append((file.path, file.document.documents("keys")))
        except MalformedVector:
            continue
    named = [
        NamedKeys(file.path, file.document.document("keys").members)
        for file in read
        if isinstance(file.document.members.get("keys"), dict)
    ]
    return Keys(rings, named, [(file.path, file.document) for file in read if _is_jwk(file)])


def _is_ring(file: VectorFile) -> bool:
    """Return whether a file is a list of JWKs, `keys`."""
    return isinstance(file.document.members.get("keys"), list) and not has(file, "request", "cases", "vectors")


def _is_jwk(file: VectorFile) -> bool:
    """Return whether a file is one JWK."""
    return "kty" in file.document

"""Corpora: the sets of vectors in a directory, and the vectors that are not run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned import profiles
from undersigned.conformance.body_integrity import BodyIntegrityFact
from undersigned.conformance.canonicalization import CanonicalizationCase
from undersigned.conformance.document import Document, MalformedVector
from undersigned.conformance.grade import Gradable, Unreadable
from undersigned.conformance.method_names import MethodDeclaration, MethodMatch
from undersigned.conformance.rfc9421 import RFC9421Case
from undersigned.conformance.signing import SigningVector
from undersigned.conformance.vector import Endpoint, KeyRing
from undersigned.policy.a2a import A2AResolver
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from undersigned.conformance.rfc9421 import Kind

REQUESTS = "request-signing"
WEBHOOKS = "webhook-signing"

ENDPOINTS: Mapping[str, Endpoint] = {
    REQUESTS: Endpoint(profiles.ADCP_3_1, PathResolver()),
    f"{REQUESTS}/profile-3.2": Endpoint(profiles.ADCP_3_2, PathResolver()),
    f"{REQUESTS}/mcp": Endpoint(profiles.ADCP_3_2, JSONRPCResolver()),
    f"{REQUESTS}/a2a": Endpoint(profiles.ADCP_3_2, A2AResolver()),
    WEBHOOKS: Endpoint(profiles.ADCP_WEBHOOK, PathResolver()),
}
"""The endpoint that receives the request vectors of each directory."""

_RFC9421 = "rfc9421_vectors.json"
_WEB_BOT_AUTH = "web_bot_auth_vectors.json"
_RFC9421_KINDS: tuple[Kind, ...] = ("components", "bases", "vectors")
_NO_PROFILE = "this library has no profile for Web Bot Auth"
_UNKNOWN = "JSON files that belong to no set"


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

    def __getitem__(self, name: str) -> VectorSet:
        """Return the set of that name, or an empty set if there is none."""
        return next((found for found in self.sets if found.name == name), VectorSet(name, ()))


def find(directory: Path) -> Corpus:
    """Find the vectors in a directory or in its subdirectories.

    A directory with vectors contains `request-signing` or `webhook-signing`. The files `rfc9421_vectors.json` and
    `web_bot_auth_vectors.json` are also read. A file that cannot be read becomes a vector that fails.

    Raises:
        OSError: a directory cannot be read.
    """
    roots = [path for path in (directory, *sorted(directory.iterdir())) if _is_root(path)]
    found = [_signing_root(root, "" if root == directory else f"{root.name}/") for root in roots]
    found += _flat_files(directory)
    sets = [vectors for corpus in found for vectors in corpus.sets if vectors.vectors]
    return Corpus(sets, [aside for corpus in found for aside in corpus.set_aside])


def _is_root(path: Path) -> bool:
    return any((path / name).is_dir() for name in (REQUESTS, WEBHOOKS))


def _signing_root(root: Path, prefix: str) -> Corpus:
    rings = {name: _key_ring(root / name / "keys.json") for name in (REQUESTS, WEBHOOKS)}
    read = {root / name / "keys.json" for name in rings}
    sets: list[VectorSet] = []
    for name, endpoint in ENDPOINTS.items():
        paths = [path for kind in ("positive", "negative") for path in sorted((root / name / kind).glob("*.json"))]
        ring = rings[name.partition("/")[0]]
        sets.append(VectorSet(prefix + name, [_vector(path, endpoint, ring) for path in paths]))
        read.update(paths)
    files: Mapping[str, Callable[[Document], Iterator[Gradable]]] = {
        "canonicalization": _canonicalization,
        "body-integrity-policy": _body_integrity,
        "protocol-method-names": _method_names,
    }
    for stem, make in files.items():
        path = root / REQUESTS / f"{stem}.json"
        if path.exists():
            sets.append(VectorSet(f"{prefix}{REQUESTS}/{stem}", _cases(path, make)))
            read.add(path)
    unread = [path for path in _json_files(root) if path not in read]
    counts = Counter((prefix + path.parent.relative_to(root).as_posix()).removesuffix("/.") for path in unread)
    return Corpus(sets, [SetAside(where, count, _UNKNOWN) for where, count in sorted(counts.items())])


def _json_files(root: Path) -> Iterator[Path]:
    for name in (REQUESTS, WEBHOOKS):
        yield from sorted((root / name).rglob("*.json"))


def _key_ring(path: Path) -> KeyRing:
    try:
        return KeyRing(tuple(_read(path).documents("keys")))
    except MalformedVector as malformed:
        return KeyRing((), f"{path.name}: {malformed}")


def _vector(path: Path, endpoint: Endpoint, ring: KeyRing) -> Gradable:
    name = f"{path.parent.name}/{path.stem}"
    try:
        return SigningVector(name, _read(path), endpoint, ring)
    except MalformedVector as malformed:
        return Unreadable(name, str(malformed))


def _cases(path: Path, make: Callable[[Document], Iterator[Gradable]]) -> list[Gradable]:
    """Return the cases of a file. If a part cannot be read, return the cases before it and the fault."""
    cases: list[Gradable] = []
    try:
        cases.extend(make(_read(path)))
    except MalformedVector as malformed:
        cases.append(Unreadable(path.name, str(malformed)))
    return cases


def _canonicalization(document: Document) -> Iterator[Gradable]:
    for case, name in _named(document, "cases", "name"):
        yield CanonicalizationCase(name, case)


def _body_integrity(document: Document) -> Iterator[Gradable]:
    for case, name in _named(document, "cases", "id"):
        yield BodyIntegrityFact(name, case)


def _method_names(document: Document) -> Iterator[Gradable]:
    for family, name in _named(document, "valid_declarations", "family"):
        methods = family.texts("methods")
        for method in methods:
            yield MethodMatch(f"{name}: {method}", methods, method, matches=True)
    for method in document.texts("invalid_declarations"):
        yield MethodDeclaration(f"not to be declared: {method}", method)
    for case, name in _named(document, "exact_match_cases", "id"):
        declared, wire = case.texts("declared_methods"), case.text("wire_method")
        yield MethodMatch(name, declared, wire, matches=case.flag("matches"))


def _named(document: Document, member: str, name: str) -> Iterator[tuple[Document, str]]:
    """Yield the objects of a list, each with its name. An object whose name is not a string is named by its index."""
    for index, case in enumerate(document.documents(member)):
        given = case.members.get(name)
        yield case, given if isinstance(given, str) else f"{member}[{index}]"


def _flat_files(directory: Path) -> list[Corpus]:
    """Read the two files of RFC 9421 signatures. The first file contains the keys for both."""
    rfc9421, web_bot_auth = directory / _RFC9421, directory / _WEB_BOT_AUTH
    keys = _members(rfc9421).optional("keys")
    other = [value for name, value in _members(web_bot_auth).members.items() if name != "vectors"]
    count = sum(len(value) for value in other if isinstance(value, list))
    return [
        _flat_file(rfc9421, _RFC9421_KINDS, keys),
        _flat_file(web_bot_auth, ("vectors",), keys),
        Corpus((), [SetAside(web_bot_auth.stem, count, _NO_PROFILE)] if count else ()),
    ]


def _flat_file(path: Path, kinds: Iterable[Kind], keys: Document) -> Corpus:
    def cases(document: Document) -> Iterator[Gradable]:
        for kind in kinds:
            for case, name in _named(document, kind, "id"):
                yield RFC9421Case(f"{kind}/{name}", kind, case, keys)

    found = _cases(path, cases) if path.exists() else []
    graded = [case for case in found if not (isinstance(case, RFC9421Case) and case.set_aside)]
    known = [case for case in found if isinstance(case, RFC9421Case)]
    reasons = Counter(filter(None, [case.set_aside or case.signature_set_aside for case in known]))
    return Corpus(
        [VectorSet(path.stem, graded)], [SetAside(path.stem, count, reason) for reason, count in reasons.items()]
    )


def _members(path: Path) -> Document:
    """Return the content of a file, or an empty document if the file is missing or grading it will report the fault."""
    try:
        return _read(path)
    except MalformedVector:
        return Document({})


def _read(path: Path) -> Document:
    try:
        return Document.parse(path.read_bytes())
    except OSError as failure:
        raise MalformedVector(f"the file cannot be read: {failure.strerror}") from None

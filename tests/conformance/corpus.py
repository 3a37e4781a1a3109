"""Corpora: the vectors in a directory. A file is known by its shape, so names and subdirectories do not matter."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.conformance import adcp, agents, messages
from tests.conformance.case import Case, Difference, File, Keys, is_jwk, is_ring

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = "JSON files of no form that is known"


class Corpus(NamedTuple):
    """The vectors, and how many files of which set are not run."""

    cases: list[Case]
    not_run: Counter[tuple[str, str]]

    def sets(self, *names: str) -> list[Case]:
        """Return the cases of some sets, whatever directory they are in."""
        return [case for case in self.cases if case.set.endswith(names)]


def has(*members: str) -> Any:
    """Return whether a file is an object with these members; `a.b` is a member of the first object in a list `a`."""

    def is_form(value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        for member in members:
            name, _, inner = member.partition(".")
            if name not in value or (inner and not any(inner in item for item in _objects(value[name]))):
                return False
        return True

    return is_form


def lists(*members: str) -> Any:
    """Return whether a file is a list of objects with these members."""
    return lambda value: bool(_objects(value)) and all({*members} <= item.keys() for item in _objects(value))


def has_any(*forms: Any) -> Any:
    return lambda value: any(form(value) for form in forms)


_cases_of_web_bot_auth = (
    messages.cases,
    agents.listed(agents.key_thumbprint, "thumbprints", "reference"),
    agents.listed(agents.agent_field, "signature_agent_fields"),
)
_OUTCOMES = ("expected_outcome", "reference_now", "jwks_ref", "jwks_override")
FORMS: list[tuple[Any, tuple[Any, ...]]] = [
    (has_any(*(has("request", one) for one in _OUTCOMES)), (adcp.request_vectors,)),
    (has("valid_declarations"), (adcp.method_names,)),
    (has("cases.input_url"), (adcp.canonicalization,)),
    (has("cases.endpoint_profile"), (adcp.body_integrity,)),
    (has_any(has("vectors.message"), has("components"), has("bases")), _cases_of_web_bot_auth),
    (has("examples.headers"), (messages.examples,)),
    (has("vectors.scheme"), (messages.schemes,)),
    (has("vectors.signedBase"), (messages.negatives,)),
    (has_any(has("signature_base", "headers"), has("signature_base", "response")), (messages.alone,)),
    (has("http"), (messages.http,)),
    (lists("target_url", "signature_input"), (messages.targets,)),
    (lists("jwk", "thumbprint"), (agents.listed(agents.key_thumbprint),)),
    (lists("header", "entries"), (agents.listed(agents.agent_field),)),
    (lists("card"), (agents.listed(agents.card),)),
    (has("recommended_latest"), (agents.ranges,)),
]
"""The shapes in which vectors are published, the most particular first, and what reads them."""


def read(directory: Path) -> dict[PurePath, Any]:
    """Read the files of a directory, by path: JSON, or one HTTP request as text. A faulty file is its exception."""
    files: dict[PurePath, Any] = {}
    found = [Path(folder, name) for folder, _, names in os.walk(directory, onerror=_raise) for name in names]
    for path in sorted(found):
        if path.suffix in {".json", ".txt"}:
            value = _value(path)
            if value is not None:
                files[PurePath(path.relative_to(directory))] = value
    return files


def find(files: dict[PurePath, Any], name: str = "") -> Corpus:
    """Find the vectors in files. `name` is the set of those that have no folder."""
    keys, cases, not_run = Keys(files), list[Case](), Counter[tuple[str, str]]()
    for path, value in files.items():
        folder = path.parent.as_posix().removesuffix("/positive").removesuffix("/negative")
        in_set = name if folder == "." else folder
        readers = next((readers for is_form, readers in FORMS if is_form(value)), None)
        if isinstance(value, ValueError | OSError):
            cases.append(Case(in_set, path.name, partial(_fail, value)))
        elif readers is not None:
            for reader in readers:
                cases += _read(reader, File(path, value, keys), in_set)
        elif not (is_ring(value) or is_jwk(value)):
            not_run[in_set, UNKNOWN] += 1
    return Corpus(cases, not_run)


def _read(reader: Any, file: File, in_set: str) -> Iterator[Case]:
    """Yield the vectors of a file. If a part cannot be read, yield those before it and the fault."""
    try:
        yield from reader(file)
    except Exception as malformed:  # noqa: BLE001 - any file may be here
        yield Case(in_set, file.path.name, partial(_fail, malformed))


def _value(path: Path) -> Any:
    try:
        text = path.read_bytes().decode("utf-8")
        return json.loads(text)
    except (OSError, ValueError) as fault:
        if path.suffix == ".json" or isinstance(fault, OSError):
            return fault
        text = text.replace("\r\n", "\n")
        return {"http": text} if re.match(r"[A-Z]+ /\S* HTTP/1\.1\n", text) else None


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _fail(fault: Exception) -> None:
    raise Difference("not a vector", "", f"{type(fault).__name__}: {fault}")


def _raise(error: OSError) -> None:
    raise error

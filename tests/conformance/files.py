"""Corpora in a temporary directory: our own vectors as they are, changed, or foreign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from undersigned import profiles
from undersigned.conformance import find, grade
from undersigned.conformance.document import Document
from undersigned.conformance.vector import Endpoint, KeyRing
from undersigned.policy.jsonrpc import JSONRPCResolver
from undersigned.policy.operation import PathResolver

if TYPE_CHECKING:
    from undersigned.conformance import Difference

OWN = Path(__file__).resolve().parents[1] / "vectors" / "own"
KEYS = "request-signing/keys.json"
SIGNED = "request-signing/profile-3.2/positive/ed25519.json"
ECDSA = "request-signing/profile-3.2/positive/es256.json"
REJECTED = "request-signing/profile-3.2/negative/replayed.json"
UNSIGNED = "request-signing/profile-3.2/positive/path-of-another-operation.json"
RPC = "request-signing/mcp/positive/signed-call.json"


def own(path: str) -> dict:
    """Return one of our own documents, for changes."""
    return json.loads((OWN / path).read_text("utf-8"))


PLAIN = Endpoint(profiles.ADCP_3_2, PathResolver())
MCP = Endpoint(profiles.ADCP_3_2, JSONRPCResolver())
RING = KeyRing(tuple(Document(jwk) for jwk in own(KEYS)["keys"]))
COMPONENT = {"component": '"@path"', "expected_line": '"@path": /p'}


def message(*fields: list[str], **changes: str) -> dict:
    """Return a message of RFC 9421 as data."""
    return {
        "kind": "request",
        "method": "GET",
        "target_uri": "https://own.test/p?a=1",
        "fields": list(fields),
        **changes,
    }


def lay(directory: Path) -> Path:
    """Make a directory with the keys of our own vectors."""
    return lay_files(directory, {KEYS: own(KEYS), "webhook-signing/keys.json": own("webhook-signing/keys.json")})


def lay_files(directory: Path, files: dict[str, object]) -> Path:
    """Write documents, or bytes, to their paths."""
    for path, content in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (directory / path).write_bytes(data)
    return directory


def difference(directory: Path, path: str, content: object) -> Difference | None:
    """Return the first difference of a document, written to its path next to the keys."""
    lay_files(lay(directory), {path: content})
    [found] = [vector for found in find(directory).sets for vector in found.vectors]
    return grade(found).difference


def difference_of(directory: Path, path: str, content: object) -> tuple[str, str, str]:
    """Return the subject, the expected and the found text of the first difference."""
    found = difference(directory, path, content)
    assert found is not None
    return found.subject, found.expected, found.found

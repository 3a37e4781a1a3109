"""Cases: what one published vector expects of the library, as a function that raises the first difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undersigned import KeySourceError, VerificationKey
from undersigned.discovery.web_bot_auth import named_agent
from undersigned.message import SignatureAgentForm  # noqa: TC001 - a dataclass's field

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "_private_d_for_test_only"}
KID = "k"


class Difference(AssertionError):
    """Raised by a case that the library does not meet."""

    def __init__(self, subject: str, expected: object, found: object, note: str = "") -> None:
        super().__init__(f"{subject}: expected {expected!r}, found {found!r}{note and f' ({note})'}")
        self.subject, self.expected, self.found, self.note = subject, str(expected), str(found), note


def same(subject: str, expected: object, found: object, note: str = "") -> None:
    """Raise the difference between two values, if there is one."""
    if expected != found:
        raise Difference(subject, expected, found, note)


@dataclass(frozen=True)
class Case:
    """One vector: the set that it belongs to, its name there, its check, and the data that it was read from."""

    set: str
    name: str
    check: Callable[[], None]
    vector: Any = None


@dataclass(frozen=True)
class File:
    """A file of a corpus, and the keys of all its files."""

    path: PurePath
    value: Any
    keys: Keys

    @property
    def name(self) -> str:
        return self.path.with_suffix("").as_posix()


class Keys:
    """The keys of a corpus, in any of its files. A name means the nearest key with that name."""

    def __init__(self, files: dict[PurePath, Any]) -> None:
        self._rings = [(path, value["keys"]) for path, value in files.items() if is_ring(value)]
        named = [(path, value.get("keys")) for path, value in files.items() if isinstance(value, dict)]
        self._named = [(path, keys) for path, keys in named if isinstance(keys, dict)]
        self._alone = [(path, value) for path, value in files.items() if is_jwk(value)]

    def ring(self, path: PurePath) -> dict[str, dict]:
        """Return the keys by `kid`, those of the nearest files first."""
        by_kid: dict[str, dict] = {}
        for _, keys in sorted(self._rings, key=lambda ring: -_shared(ring[0], path)):
            for key in keys:
                by_kid.setdefault(key["kid"], key)
        return by_kid

    def find(self, name: str, path: PurePath) -> object:
        """Return the nearest key that a file calls by this name."""
        having = [(where, keys[name]) for where, keys in self._named if name in keys]
        return max(having, key=lambda found: _shared(found[0], path))[1]

    def alone(self, path: PurePath) -> dict:
        """Return the nearest key that has a file of its own."""
        return max(self._alone, key=lambda found: _shared(found[0], path))[1]


def is_ring(value: object) -> bool:
    """Return whether a file is a list of JWKs, `keys`."""
    return isinstance(value, dict) and isinstance(value.get("keys"), list) and not value.keys() & {"request", "cases"}


def is_jwk(value: object) -> bool:
    """Return whether a file is one JWK."""
    return isinstance(value, dict) and "kty" in value


def verification_key(published: Any, algorithm: str = "", *, kid: str | None = None) -> VerificationKey:
    """Return the public half of a published key: a JWK, an object that contains one, a PEM text or a shared secret.

    It is named `kid`. By default its own `kid` names it, or its thumbprint if it has none (RFC 7638).
    """
    if isinstance(published, str):
        return VerificationKey.from_pem(published, keyid=kid or KID, algorithm=algorithm or None).for_tests()
    jwk = dict(published.get("jwk", published))
    if jwk["kty"] == "oct":
        return VerificationKey.from_secret({**jwk, "kid": kid or KID}, keyid=kid or KID).for_tests()
    public = {name: value for name, value in jwk.items() if name not in PRIVATE}
    public["kid"] = kid or public.get("kid") or VerificationKey.from_jwk({**public, "kid": ""}).thumbprint or KID
    return VerificationKey.from_jwk({**public, **({"alg": algorithm} if algorithm else {})}).for_tests()


class Held:
    """A key source with the keys that the verifier of a vector holds, whether they are fit or not.

    With `agent_form` it reads Signature-Agent as the sources do that fetch. A signature without keyid is by any key.
    """

    blocking = False

    def __init__(self, *keys: VerificationKey, agent_form: SignatureAgentForm | None = None) -> None:
        self._keys = keys
        self._agent_form: SignatureAgentForm | None = agent_form

    def find(self, lookup) -> tuple[VerificationKey, ...]:
        if self._agent_form is not None and named_agent(lookup, form=self._agent_form) is None:
            raise KeySourceError("signature_identity_missing", "the signature covers no Signature-Agent that is read")
        return tuple(key for key in self._keys if lookup.keyid in {"", key.keyid})


def _shared(one: PurePath, other: PurePath) -> int:
    """Return how many directories two paths share."""
    pairs = list(zip(one.parent.parts, other.parent.parts, strict=False))
    return next((at for at, (left, right) in enumerate(pairs) if left != right), len(pairs))

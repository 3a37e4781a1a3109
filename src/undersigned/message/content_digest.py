"""Content-Digest: the digests that a message declares for its content (RFC 9530)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from undersigned.message.structured_fields import parse_byte_sequences, serialize_byte_sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from undersigned.message.structured_fields import Encoding


class Hash(Protocol):
    """A hash object of hashlib, as far as it is used here."""

    def update(self, data: bytes, /) -> None:
        """Feed the next bytes."""
        ...

    def digest(self) -> bytes:
        """Return the digest of what was fed."""
        ...


DigestAlgorithm = Literal["sha-256", "sha-512"]
"""The algorithms RFC 9530 section 7.2 calls active."""

_ALGORITHMS: Mapping[str, Callable[..., Hash]] = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}

DIGEST_ALGORITHMS: frozenset[str] = frozenset(_ALGORITHMS)
"""The names of the algorithms, as in `DigestAlgorithm`."""


class ContentDigest(NamedTuple):
    """A parsed Content-Digest field.

    Attributes:
        expected: the digest bytes by algorithm, without unknown algorithms.
    """

    expected: Mapping[str, bytes]

    @classmethod
    def parse(cls, value: str, *encodings: Encoding) -> ContentDigest:
        """Read a field value.

        Raises:
            MalformedField: the value is not a dictionary of byte sequences, repeats a key, has an upper-case key, or is
                in another Base64.
        """
        members = parse_byte_sequences(value, *encodings)
        if not DIGEST_ALGORITHMS.issuperset(members):
            members = {name: digest for name, digest in members.items() if name in DIGEST_ALGORITHMS}
        return cls(members)

    def of(self, algorithms: Collection[str]) -> ContentDigest:
        """Return the field without the digests by other algorithms."""
        if all(name in algorithms for name in self.expected):
            return self
        return ContentDigest({name: digest for name, digest in self.expected.items() if name in algorithms})

    def running_digest(self, begun: bytes = b"") -> RunningDigest:
        """Return a running digest for every algorithm of the field, which has already read `begun`."""
        return RunningDigest(self, begun)


class RunningDigest:
    """A digest over content that arrives in chunks, fed once while it is read.

    Args:
        declared: the field to compare with.
        begun: the first bytes of the content.

    Attributes:
        update: feeds the next chunk.
    """

    __slots__ = ("_hashes", "update")

    def __init__(self, declared: ContentDigest, begun: bytes = b"") -> None:
        self._hashes: list[tuple[Hash, bytes]] = []
        for name, expected in declared.expected.items():
            running = _ALGORITHMS[name](begun)
            self._hashes.append((running, expected))
            self.update: Callable[[bytes], None] = running.update
        # Nearly every message has exactly one digest.
        if len(self._hashes) != 1:
            self.update = self._feed

    def _feed(self, chunk: bytes) -> None:
        for running, _ in self._hashes:
            running.update(chunk)

    def matches(self) -> bool:
        """Return whether at least one digest is declared, and the content fed so far has every declared digest."""
        matched = bool(self._hashes)
        for running, expected in self._hashes:
            matched &= compare_digest(running.digest(), expected)
        return matched


class DigestBuilder:
    """A Content-Digest of content that is read in chunks, such as a file.

    Args:
        encoding: how the bytes of the digest are encoded.
        algorithms: the algorithms, in the order of the field.
    """

    __slots__ = ("_encoding", "_hashes")

    def __init__(self, encoding: Encoding, algorithms: Iterable[DigestAlgorithm]) -> None:
        self._encoding: Encoding = encoding
        self._hashes = [(name, _ALGORITHMS[name]()) for name in algorithms]

    def update(self, chunk: bytes) -> None:
        """Feed the next chunk."""
        for _, running in self._hashes:
            running.update(chunk)

    def value(self) -> str:
        """Return the field value for what was fed so far (RFC 9530 section 2)."""
        return ", ".join(
            [f"{name}={serialize_byte_sequence(running.digest(), self._encoding)}" for name, running in self._hashes]
        )


def content_digest(body: bytes, encoding: Encoding, *, algorithms: Iterable[DigestAlgorithm] = ("sha-256",)) -> str:
    """Return the Content-Digest field value of `body` (RFC 9530 section 2)."""
    value = ""
    for name in algorithms:
        member = f"{name}={serialize_byte_sequence(_ALGORITHMS[name](body).digest(), encoding)}"
        value = f"{value}, {member}" if value else member
    return value

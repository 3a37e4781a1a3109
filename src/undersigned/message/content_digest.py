"""Content-Digest: the digests that a message declares for its content (RFC 9530)."""

from __future__ import annotations

import hashlib
from hmac import compare_digest
from typing import TYPE_CHECKING, Final, Literal

from undersigned.message.structured_fields import MalformedField, parse_byte_sequences, serialize_byte_sequence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from undersigned.message.structured_fields import Encoding

DigestAlgorithm = Literal["sha-256", "sha-512"]
"""The algorithms RFC 9530 section 7.2 calls active."""

_ALGORITHMS: Final = {"sha-256": hashlib.sha256, "sha-512": hashlib.sha512}

DIGEST_ALGORITHMS: Final = frozenset(_ALGORITHMS)
"""The names of the algorithms, as in `DigestAlgorithm`."""


def parse_content_digest(
    value: str, *encodings: Encoding, algorithms: Collection[str] = DIGEST_ALGORITHMS
) -> dict[str, bytes]:
    """Return the digests of a field value by algorithm, without those by other algorithms.

    Raises:
        MalformedField: the value is not a dictionary of byte sequences, repeats a key, has an upper-case key, or is in
            another Base64.
    """
    members = parse_byte_sequences(value, *encodings)
    return {name: digest for name, digest in members.items() if name in algorithms}


def read_digests(value: str) -> dict[str, bytes]:
    """Return the digests of a field value in either Base64, by algorithm; none if it cannot be read."""
    try:
        return parse_content_digest(value, "base64", "base64url")
    except MalformedField:
        return {}


class RunningDigest:
    """A digest over content that arrives in chunks, fed once while it is read. It may be by several algorithms.

    Args:
        algorithms: the algorithms, in the order of the field.
        begun: the first bytes of the content.
        encoding: how `value` encodes the bytes of a digest.
    """

    __slots__ = ("_encoding", "_hashes")

    def __init__(self, algorithms: Iterable[str], begun: bytes = b"", *, encoding: Encoding = "base64") -> None:
        self._encoding: Encoding = encoding
        self._hashes = {name: _ALGORITHMS[name](begun) for name in algorithms}

    def update(self, chunk: bytes) -> None:
        """Feed the next chunk."""
        for running in self._hashes.values():
            running.update(chunk)

    def anew(self) -> RunningDigest:
        """Return a digest of the same kind over nothing yet."""
        return RunningDigest(self._hashes, encoding=self._encoding)

    def matches(self, expected: Mapping[str, bytes]) -> bool:
        """Return whether at least one digest is expected, and the content fed so far has every expected digest.

        Args:
            expected: the digests by algorithm, all of which are fed.
        """
        matched = bool(expected)
        for name, digest in expected.items():
            matched &= compare_digest(self._hashes[name].digest(), digest)
        return matched

    def value(self) -> str:
        """Return the field value for what was fed so far (RFC 9530 section 2)."""
        digests = [(name, running.digest()) for name, running in self._hashes.items()]
        return ", ".join([f"{name}={serialize_byte_sequence(digest, self._encoding)}" for name, digest in digests])


def has_digests(content: bytes, expected: Mapping[str, bytes]) -> bool:
    """Return whether at least one digest is expected, and `content` has every expected digest."""
    return RunningDigest(expected, content).matches(expected)


def content_digest(body: bytes, encoding: Encoding, *, algorithms: Iterable[DigestAlgorithm] = ("sha-256",)) -> str:
    """Return the Content-Digest field value of `body` (RFC 9530 section 2)."""
    return RunningDigest(algorithms, body, encoding=encoding).value()

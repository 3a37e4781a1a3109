"""Digest: whether a signature covers the digest of the content, and which digests count (RFC 9530)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from undersigned.errors import ConfigurationError
from undersigned.message.content_digest import DIGEST_ALGORITHMS, DigestAlgorithm
from undersigned.message.structured_fields import Encoding
from undersigned.signature.rules.option import check_choice

DigestPolicy = Literal["required", "forbidden", "either"]
"""Whether a signature over a message with content must, must not or may cover `content-digest`."""

_POLICIES: frozenset[str] = frozenset(get_args(DigestPolicy))
_ENCODINGS: frozenset[str] = frozenset(get_args(Encoding))


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRule:
    """A rule for the digest of the content: whether a signature covers it, and which digests count.

    Attributes:
        policy: whether `content-digest` must, must not or may be covered if the message has content.
        encodings: how the bytes of a digest may be encoded. A signer uses the first encoding.
        algorithms: the digests that are looked at, in the order that a signer prefers. At least one must be declared.
        takes_all: whether these are all the digests that the library knows.

    Raises:
        ConfigurationError: an attribute has a wrong value.
    """

    policy: DigestPolicy = "required"
    encodings: tuple[Encoding, ...] = ("base64",)
    algorithms: tuple[DigestAlgorithm, ...] = ("sha-256", "sha-512")
    takes_all: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("digest.policy", self.policy, _POLICIES)
        if not isinstance(self.encodings, tuple) or not self.encodings or not _ENCODINGS.issuperset(self.encodings):
            raise ConfigurationError('digest.encodings: list "base64", "base64url" or both in a tuple')
        algorithms = self.algorithms
        if not isinstance(algorithms, tuple) or not algorithms or not DIGEST_ALGORITHMS.issuperset(algorithms):
            raise ConfigurationError(
                f"digest.algorithms: list some of {', '.join(sorted(DIGEST_ALGORITHMS))} in a tuple"
            )
        object.__setattr__(self, "takes_all", DIGEST_ALGORITHMS.issubset(algorithms))

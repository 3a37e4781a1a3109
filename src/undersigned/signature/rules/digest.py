"""Whether a signature covers the digest of the content, and which digests count (RFC 9530)."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from undersigned.message.content_digest import DIGEST_ALGORITHMS, DigestAlgorithm
from undersigned.message.structured_fields import Encoding
from undersigned.signature.rules.checks import check, check_choice

DigestPolicy = Literal["required", "forbidden", "either"]
"""Whether a signature over a message with content must, must not or may cover `content-digest`."""


class DigestRule(NamedTuple):
    """A rule for the digest of the content: whether a signature covers it, and which digests count.

    Attributes:
        policy: whether `content-digest` must, must not or may be covered if the message has content.
        encodings: how the bytes of a digest may be encoded. A signer uses the first encoding.
        algorithms: the digests that are looked at. At least one must be declared. A signer makes the first.
    """

    policy: DigestPolicy = "required"
    encodings: tuple[Encoding, ...] = ("base64",)
    algorithms: tuple[DigestAlgorithm, ...] = ("sha-256", "sha-512")

    def check(self) -> None:
        """Raise ConfigurationError if a value is wrong or contradicts another."""
        check_choice("digest.policy", self.policy, DigestPolicy)
        are_encodings = self.encodings and {*get_args(Encoding)}.issuperset(self.encodings)
        check("digest.encodings", are_encodings, 'list "base64", "base64url" or both in a tuple')
        are_known = self.algorithms and DIGEST_ALGORITHMS.issuperset(self.algorithms)
        check("digest.algorithms", are_known, f"list some of {', '.join(sorted(DIGEST_ALGORITHMS))} in a tuple")

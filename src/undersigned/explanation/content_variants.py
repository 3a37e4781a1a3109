"""Variants of Content-Digest: the digest of content that was written again, or the same digest in another Base64."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from undersigned.explanation.body_digest import ALGORITHM_NAMES, is_base64url, other_base64, other_contents
from undersigned.explanation.variant import Alternative, Variant
from undersigned.message.content_digest import ContentDigest, DigestAlgorithm, content_digest
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.explanation.values import SignedValues
    from undersigned.message.structured_fields import Encoding

_Described: TypeAlias = tuple[str, bytes]

_NAME: Final = "content-digest"


def _of_other_content(values: SignedValues) -> Iterator[Alternative]:
    declared = values.fields.combined.get(_NAME)
    if declared is None or _NAME not in values.covered:
        return
    body = bytes(values.content)
    contents = [("the body that you received", body)]
    written = other_contents(body)
    for algorithms, encoding in _forms(declared):
        # The contents are written only while somebody asks for more, because that takes longest.
        for words, content in chain(contents, _keep(written, contents)):
            value = content_digest(content, encoding, algorithms=algorithms)
            reason = f"the digest is of {words}: sign exactly the bytes that are sent"
            yield Alternative(values.with_field(_NAME, value), value, declared, reason)


def _keep(contents: Iterator[_Described], kept: list[_Described]) -> Iterator[_Described]:
    """Yield the contents, and keep each of them."""
    for one in contents:
        kept.append(one)
        yield one


def _forms(declared: str) -> dict[tuple[tuple[DigestAlgorithm, ...], Encoding], None]:
    """Return the algorithms and encodings of a digest, first the ones of the field as it was received."""
    first: tuple[DigestAlgorithm, ...] = ("sha-256",)
    try:
        names = ContentDigest.parse(declared, "base64", "base64url").expected
        first = tuple(name for name in ALGORITHM_NAMES if name in names) or first
    except MalformedField:
        pass
    encodings: tuple[Encoding, ...] = ("base64url", "base64") if is_base64url(declared) else ("base64", "base64url")
    several: tuple[tuple[DigestAlgorithm, ...], ...] = (first, ("sha-256",), ("sha-512",))
    return {(algorithms, encoding): None for encoding in encodings for algorithms in several}


def _in_other_base64(values: SignedValues) -> Iterator[Alternative]:
    declared = values.fields.combined.get(_NAME)
    if declared is not None and _NAME in values.covered:
        for value in other_base64(declared):
            yield Alternative(values.with_field(_NAME, value), value, declared)


CONTENT_VARIANTS: Final = (
    Variant(
        "other Base64", "content-digest",
        "one side wrote the digest in Base64url, or left out the padding: use the Base64 of the profile",
        _in_other_base64,
    ),
    Variant(
        "other content", "content-digest", "the digest is of other content: sign exactly the bytes that are sent",
        _of_other_content,
    ),
)  # fmt: skip
"""The variants of Content-Digest, the most likely first."""

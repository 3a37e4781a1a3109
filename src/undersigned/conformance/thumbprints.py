"""Thumbprints: a JWK and its published thumbprint (RFC 7638)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned.conformance.difference import Difference
from undersigned.conformance.document import Document, MalformedVector, read_json
from undersigned.signature.thumbprint import thumbprint

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class ThumbprintCase:
    """A JWK, as an object or as a text, and its thumbprint.

    Attributes:
        name: its name in its file.
        document: the case.
    """

    name: str
    document: Document

    def differences(self) -> Iterator[Difference | None]:
        """Compare the thumbprint."""
        given = self.document.members.get("jwk")
        jwk = read_json(given.encode("utf-8", "surrogatepass")) if isinstance(given, str) else given
        if not isinstance(jwk, dict):
            raise MalformedVector("jwk is not a JWK")
        yield Difference.between("thumbprint", self.document.text("thumbprint"), thumbprint(jwk) or "none")

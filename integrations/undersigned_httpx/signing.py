"""Signing an outgoing request, of httpx or httpx2, for listed origins and for no other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from undersigned import ConfigurationError, MalformedURL, Request, Signer, SigningError, canonicalize
from undersigned.url.origin import Origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from undersigned import CanonicalURL

Field = tuple[bytes, bytes]

BEFORE = "undersigned.origin"
"""The request extension that says for which origin a request was signed: a redirected request inherits it."""

_SIGNATURE_FIELDS = frozenset({b"signature-input", b"signature", b"content-digest"})


class Fields(Protocol):
    """The header fields of a request of either library."""

    @property
    def raw(self) -> list[Field]:
        """The fields as they are sent."""
        ...


class Outgoing(Protocol):
    """A request of either library, its content read."""

    @property
    def method(self) -> str:
        """The method."""
        ...

    @property
    def url(self) -> object:
        """The URL, whose text is the URL."""
        ...

    @property
    def headers(self) -> Fields:
        """The header fields."""
        ...

    @property
    def content(self) -> bytes:
        """The content."""
        ...

    @property
    def extensions(self) -> Mapping[str, object]:
        """What the transport is told besides."""
        ...


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """What is sent.

    Attributes:
        url: the canonical URL.
        origin: its scheme and authority.
        fields: the header fields without the signature's.
        signature: the signature's own: Signature-Input, Signature and, with content, Content-Digest.
    """

    url: str
    origin: str
    fields: Sequence[Field]
    signature: Sequence[Field]


class OriginSigner:
    """Signs requests for listed origins.

    Args:
        signer: makes the signatures.
        origins: what may be signed for, each as `undersigned.origins.Origin.parse` reads it.

    Raises:
        ConfigurationError: an argument is not what it must be.
    """

    __slots__ = ("_origins", "_signer")

    def __init__(self, signer: Signer, origins: Iterable[str]) -> None:
        if not isinstance(signer, Signer):
            raise ConfigurationError("signer: pass a Signer, such as Signer(key, profile=profiles.ADCP_3_2)")
        self._signer = signer
        self._origins = Origins(origins)

    def sign(self, request: Outgoing) -> SignedRequest:
        """Sign `request`, which stays as it is; a signature it has is replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the request lacks what is covered, or it is sent to another target
                than its URL's.
        """
        target = canonicalize(str(request.url))
        if not self._origins.lists(target):
            raise SigningError(
                f"origins: {_origin(target)} is not listed for this path; add it to origins=, or send the request by a "
                "client that does not sign"
            )
        if "target" in request.extensions:
            raise SigningError("extensions: target is sent instead of the URL's path and query; put it in the URL")
        fields = [field for field in request.headers.raw if field[0].lower() not in _SIGNATURE_FIELDS]
        chunked = any(name.lower() == b"transfer-encoding" for name, _ in fields)
        signature = self._signer.sign(
            Request(
                request.method,
                target.target_uri,
                [(name.decode("latin-1"), value.decode("latin-1")) for name, value in fields],
                request.content,
                has_body=chunked or bool(request.content),
            )
        )
        authority = target.authority.encode("ascii")
        return SignedRequest(
            target.target_uri,
            _origin(target),
            [(name, authority if name.lower() == b"host" else value) for name, value in fields],
            [(name.encode("ascii"), value.encode("ascii")) for name, value in signature],
        )

    def leads_elsewhere(self, request: Outgoing) -> bool:
        """Return whether a redirect has led to `request` out of the origin it was signed for, or of the listed path.

        An origin does not choose what is signed for another one, listed or not.
        """
        if BEFORE not in request.extensions:
            return False
        try:
            target = canonicalize(str(request.url))
        except MalformedURL:
            return True
        return request.extensions[BEFORE] != _origin(target) or not self._origins.lists(target)


def _origin(target: CanonicalURL) -> str:
    return f"{target.scheme}://{target.authority}"

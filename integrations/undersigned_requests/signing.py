"""Signing a prepared request in place, for listed origins and for no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned import ConfigurationError, MalformedURL, Request, Signer, SigningError, canonicalize
from undersigned.url.origin import Origins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from requests import PreparedRequest

SIGNATURE_FIELDS = ("Signature-Input", "Signature", "Content-Digest")
"""The fields that are the signer's: whatever a request has under these names is replaced."""


class OriginSigner:
    """Signs prepared requests for listed origins.

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

    def sign(self, prepared: PreparedRequest) -> None:
        """Make `prepared` what is signed: canonical URL, content as bytes, a fresh signature.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the content is a stream, or the request lacks what is covered.
        """
        # Sending normalizes a URL once more than preparing does where the URL is from a redirect or was set by hand.
        # Prepared again, it is one that sending leaves alone.
        prepared.prepare_url(prepared.url or "", None)
        target = canonicalize(prepared.url or "")
        if not self._origins.lists(target):
            raise SigningError(
                f"origins: {target.scheme}://{target.authority} is not listed for this path; add it to origins=, or "
                "send the request without this auth"
            )
        strip(prepared)
        content = _content(prepared.body)
        request = Request(prepared.method or "", target.target_uri, _fields(prepared), content)
        prepared.headers.update(self._signer.sign(request))
        prepared.url, prepared.body = target.target_uri, content
        if "Host" in prepared.headers:
            prepared.headers["Host"] = target.authority

    def sign_redirected(self, prepared: PreparedRequest, before: str) -> None:
        """Sign `prepared`, to which the answer from the URL `before` has led, where it stays within that origin.

        An origin does not choose what is signed for another one, listed or not: that is left without a signature.
        """
        strip(prepared)
        try:
            target = canonicalize(prepared.url or "")
        except MalformedURL:
            return
        origin = canonicalize(before)
        if (target.scheme, target.authority) == (origin.scheme, origin.authority) and self._origins.lists(target):
            self.sign(prepared)


def strip(prepared: PreparedRequest) -> None:
    """Take every signature, and the digest it covers, off `prepared`."""
    for name in SIGNATURE_FIELDS:
        prepared.headers.pop(name, None)


def _content(body: object) -> bytes | None:
    """Return the bytes that are sent; an empty body is none, which is how it is framed then."""
    if body is None:
        return None
    if isinstance(body, str):
        return body.encode() or None
    if isinstance(body, bytes):
        return body or None
    raise SigningError("body: a file or a generator is signed only as a whole; pass its bytes, such as file.read()")


def _fields(prepared: PreparedRequest) -> list[tuple[str, str]]:
    return [(name, _text(value)) for name, value in prepared.headers.items()]


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)

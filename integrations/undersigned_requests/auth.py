"""The auth that signs what requests sends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from requests.auth import AuthBase

from .redirect import RedirectedRequest
from .signing import OriginSigner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from requests import PreparedRequest, Response

    from undersigned import Signer


class SignatureAuth(AuthBase):
    """Signs every request it is given to. Safe to share between threads and sessions.

    The request is sent to the canonical form of its URL, with the content that was signed. Content needs a
    Content-Type, which requests sets for `json=`, `files=` and a `data=` of pairs alone.

    A redirect within its origin is signed for its own URL, method and content; a redirect to another origin, listed
    or not, is followed without a signature. A request that was sent gets a new signature, so that it can be sent
    again; `response.request` keeps the one that was sent. A `copy()` of a request carries no signature.

    Args:
        signer: makes the signatures.
        origins: what may be signed for, such as `https://seller.example.com`; with a path, such as
            `https://seller.example.com/api`, only what is below it.

    Raises:
        ConfigurationError: an argument is not what it must be.
    """

    def __init__(self, signer: Signer, *, origins: Iterable[str]) -> None:
        self._signer = OriginSigner(signer, origins)

    def __call__(self, r: PreparedRequest) -> PreparedRequest:
        """Sign the prepared request `r` in place and return it; a signature it has is replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the content is a stream, or the request lacks what is covered.
        """
        self._signer.sign(r)
        # requests follows a redirect with a copy of the request and offers no other place to take its fields off.
        r.copy = partial(RedirectedRequest, r, self._signer)  # type: ignore[method-assign]
        if self._renew not in r.hooks["response"]:
            r.hooks["response"].append(self._renew)
        return r

    def _renew(self, r: Response, **_: object) -> None:
        """Sign a request anew once it was sent: its nonce is spent. The response keeps the request as it was sent."""
        request = r.request
        if "Signature-Input" not in request.headers:
            return
        sent = RedirectedRequest(request, self._signer)
        sent.headers = request.headers.copy()
        r.request = sent
        self._signer.sign(request)

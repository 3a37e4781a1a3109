"""The auth that signs what requests sends."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from requests.auth import AuthBase

from undersigned.client import DEFAULT_MAX_SPOOLED, ClientSigner

from .prepared import SignedCopy, Signing, WireFields, finish

if TYPE_CHECKING:
    from requests import PreparedRequest

    from undersigned.client import ConfiguredOrigins, ResponseVerification, SignerSource


class SignatureAuth(AuthBase):
    """An auth that signs every request it is given. Safe to share between threads and sessions.

    The request is sent to the canonical form of its URL, with the content that was signed. Content needs a
    Content-Type, which requests sets only for `json=`, `files=` and a `data=` of pairs. A file is read to sign it and
    again to send it; a generator is kept, up to `max_spooled` bytes.

    Each attempt to send a request has its own signature, even if `urllib3.Retry` repeats it or you send a prepared
    request again. `response.request` shows the request as it was sent.

    A redirect within the listed origins is signed for its own URL, method and content. A redirect that leaves them or
    their listed paths raises `SigningError`.

    Args:
        signer: makes the signatures; or a function that returns the signer to use now. With a `DoubleKnock`, a request
            that is answered with 401 is sent once more by the other scheme.
        origins: the origins to sign for, such as `https://seller.example.com`. An origin with a path, such as
            `https://seller.example.com/api`, allows only what is below that path.
        follow_unsigned: whether to follow a redirect that leaves the listed origins, without a signature.
        max_spooled: how many bytes to keep of content that cannot be read again, such as a generator.
        responses: verifies the response to each request, also a redirect or an error, before you get it. None: no
            response is verified.

    Raises:
        ConfigurationError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        signer: SignerSource,
        *,
        origins: ConfiguredOrigins,
        follow_unsigned: bool = False,
        max_spooled: int = DEFAULT_MAX_SPOOLED,
        responses: ResponseVerification | None = None,
    ) -> None:
        self._signer = ClientSigner(
            signer,
            origins,
            follow_unsigned=follow_unsigned,
            max_spooled=max_spooled,
            tries_again=True,
            responses=responses,
        )
        if responses is not None:
            responses.check_sync()

    def __call__(self, r: PreparedRequest) -> PreparedRequest:
        """Sign the prepared request `r` in place and return it. Signature fields that it has already are replaced.

        Raises:
            MalformedURL: the URL has no canonical form.
            SigningError: the origin is not listed, the content is a stream that is too long, or the request lacks what
                the signature covers.
        """
        signing = Signing(r, self._signer, None)
        signing.prepare()
        headers = r.headers
        r.headers = WireFields([(name, headers[name]) for name in headers], signing)
        # requests follows a redirect with a copy of the request, and has no other hook to remove the signature fields
        # from it.
        r.copy = partial(SignedCopy, r, signing)  # type: ignore[method-assign]
        if finish not in r.hooks["response"]:
            r.hooks["response"].append(finish)
        return r

"""What becomes of a signed request when requests follows a redirect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from requests import PreparedRequest

from .signing import strip

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

    from requests.cookies import RequestsCookieJar

    from .signing import OriginSigner


class RedirectedRequest(PreparedRequest):
    """A copy of a signed request, without its signature, that is signed for where it goes.

    To follow a redirect, requests copies the request with all its header fields, sets method, URL and content anew,
    and prepares its cookies last. No auth is asked again. So the copy leaves the signature behind, and preparing the
    cookies signs for the new target where that is within the origin the signed request went to.

    Args:
        request: the signed request.
        signer: what signed it.
    """

    def __init__(self, request: PreparedRequest, signer: OriginSigner) -> None:
        super().__init__()
        vars(self).update(vars(PreparedRequest.copy(request)))
        self._signer = signer
        # A request that was left without a signature leads to none with one: its origin does not choose what is signed.
        self._before = request.url if "Signature-Input" in request.headers else None
        strip(self)

    def copy(self) -> PreparedRequest:
        """Return a copy that is signed for where it goes in its turn."""
        return RedirectedRequest(self, self._signer)

    def prepare_cookies(self, cookies: RequestsCookieJar | CookieJar | dict[str, str] | None) -> None:
        """Prepare the cookies, then sign where the request stays within its origin.

        Raises:
            SigningError: it does, and cannot be signed as it stands.
        """
        super().prepare_cookies(cookies)
        if self._before is not None:
            self._signer.sign_redirected(self, self._before)

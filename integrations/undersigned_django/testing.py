"""A Django test client that signs its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.test import Client

from undersigned.testing import sign_environ

if TYPE_CHECKING:
    from undersigned import Signer


class SignedClient(Client):
    """A `django.test.Client` whose requests are signed.

    Args:
        signer: the signer.
        origin: the origin that the requests are sent to, one of `UNDERSIGNED["ORIGINS"]`.
        options: the arguments of `django.test.Client`.
    """

    def __init__(self, signer: Signer, *, origin: str, **options: Any) -> None:
        super().__init__(**options)
        self._signer = signer
        self._origin = origin

    def request(self, **request: Any) -> Any:
        """Sign a request and send it to the site."""
        # Django says that there are several processes, each of which would have nonces of its own.
        environ = {"wsgi.multiprocess": False, **request}
        return super().request(**sign_environ(environ, self._signer, origin=self._origin))

"""The guard of a WSGI server, which never waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undersigned.errors import ConfigurationError
from undersigned.middleware.answer import logger
from undersigned.middleware.guard import Guard
from undersigned.verification.asking import finish
from undersigned.verification.verifier import Verifier
from undersigned.wsgi.servers import NOTICES, SEVERAL

if TYPE_CHECKING:
    from typing import Unpack

    from undersigned.middleware.admission import Admission
    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.options import WSGIOptions
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.wsgi.received import EnvironBody, EnvironReceived


class SyncGuard(Guard):
    """A guard that verifies requests without waiting.

    Args:
        verifier: as in `SignatureMiddleware`, with all other options.
        origins: the public origins of the service.
        options: the options of every WSGI middleware, as `WSGIOptions` lists them.

    Attributes:
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self,
        *,
        verifier: Verifier,
        origins: ConfiguredOrigins,
        **options: Unpack[WSGIOptions[Any]],
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier; an AsyncVerifier is for undersigned.asgi")
        others: dict[str, Any] = {**options}
        self.reconstruct: bool = others.pop("reconstruct", False)
        super().__init__(verifier, origins, **others)
        self._noticed = False

    def verify_now(self, received: EnvironReceived, body: EnvironBody) -> Admission | ErrorResponse:
        """Verify one request, as `verify` does."""
        if not self._noticed:
            self._notice(received)
        return finish(self.verify(received, body))

    def _notice(self, received: EnvironReceived) -> None:
        """Log once what the operator of a development server, or of several processes, has to know."""
        text = NOTICES.get(received.server)
        if text is None and self.service.in_memory and received.environ.get("wsgi.multiprocess"):
            text = SEVERAL
        if text is not None:
            self._noticed = True
            logger.warning(text)

"""Requests for the unit test of a guarded route: they have a signature, although no middleware has verified them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from undersigned.errors import ConfigurationError
from undersigned.message.request import Request
from undersigned.middleware.admission import Admission
from undersigned.middleware.published import PUBLISHED
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.key_pair import KeyPair
from undersigned.signature.key_source import KeySet
from undersigned.signature.signer import Signer
from undersigned.verification.verifier import Verifier
from undersigned.wsgi.middleware import SyncGuard
from undersigned.wsgi.received import EnvironReceived

if TYPE_CHECKING:
    from undersigned.middleware.published import Published
    from undersigned.verification.verified_signature import VerifiedSignature

Asked = TypeVar("Asked")

_PACKAGES: Final = ("aiohttp", "django", "falcon", "flask", "litestar", "quart", "sanic", "starlette", "tornado")
_URL: Final = "https://testserver/"


def put_signature(request: Asked, signature: VerifiedSignature | str | None = "test-signer") -> Asked:
    """Put a signature on a request, so that a guarded route can be called in a unit test without the middleware.

    Args:
        request: a request or handshake of Django, REST framework, Flask, Starlette, FastAPI, aiohttp, Tornado, Sanic,
            Litestar, Quart or Falcon; or a scope (ASGI) or an environ (WSGI).
        signature: the signature, or the name of the signer for a new one by the key `test-key`; None for a request that
            a middleware let pass unsigned, which a guarded route rejects.

    Returns:
        The same request.

    Raises:
        ConfigurationError: it is another object.
    """
    pair = KeyPair.generate("ed25519", keyid="test-key")
    signer = signature if isinstance(signature, str) else ""
    verifier = Verifier(keys=KeySet.from_jwks(pair.public, owner=signer), replay=MemoryReplayStore())
    if isinstance(signature, str):
        fields = Signer(pair.signing_key()).sign(Request("GET", _URL))
        signature = verifier.verify(Request("GET", _URL, fields))
    service = SyncGuard(verifier=verifier, origins=[_URL[:-1]], mode="optional").service
    # REST framework keeps the request of Django in its own, and shows every attribute of it.
    asked: Any = getattr(request, "_request", request)
    published = _published(asked)
    if hasattr(asked, "path"):
        method, path = asked.method, asked.path
    else:
        scope: Any = getattr(asked, "scope", asked)
        method, path = scope.get("method", "GET"), scope.get("path", "/")
    received = EnvironReceived.of({"REQUEST_METHOD": method, "PATH_INFO": path, "SERVER_PROTOCOL": "HTTP/1.1"})
    published.publish(asked, Admission(service, received, signature))
    return request


def _published(request: object) -> Published[Any]:
    """Return where the framework of a request keeps what a middleware publishes."""
    if isinstance(request, dict):
        return PUBLISHED
    # Flask and Quart show their request through a proxy, which tells its class.
    for cls in request.__class__.__mro__:
        name = cls.__module__.partition(".")[0]
        if name in _PACKAGES:
            # In every package, this function is a method of what keeps it.
            published: Published[Any] = import_module(f"undersigned_{name}").find_signature.__self__
            return published
    raise ConfigurationError("request: pass a request of a framework, a scope or an environ")

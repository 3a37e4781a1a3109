"""Memory: that of a rejected request is free at once, without the garbage collector. Anyone can send such requests."""

from __future__ import annotations

import asyncio
import gc
from io import BytesIO

import pytest
from tests.party import HOST, ORIGIN, party

from undersigned import Policy, Request, SignatureError, asgi, wsgi
from undersigned.message.header_fields import HeaderFields

POLICY = Policy(required_for=["create_media_buy"])
OURS = party()
SIGNED = [("Host", HOST), *OURS.fields("POST", f"{ORIGIN}/p")]
NO_DICTIONARY = [("Host", HOST), ("Signature-Input", "sig1=();a b"), ("Signature", "sig1=:AA==:")]


@pytest.fixture(autouse=True)
def _without_garbage_collector():
    gc.disable()
    yield
    gc.enable()


def count_messages() -> int:
    """Return how many messages have header fields in the memory."""
    return sum(type(one) is HeaderFields for one in gc.get_objects())


def reject_over_asgi(target: str, fields, **options) -> int:
    """Return the status of the answer."""
    statuses: list[int] = []

    async def application(_scope, _receive, _send) -> None:
        raise AssertionError

    async def receive() -> dict[str, object]:
        raise AssertionError

    async def send(message) -> None:
        statuses.append(message.get("status"))

    path = target.encode()
    headers = [(name.lower().encode(), value.encode()) for name, value in fields]
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": target, "raw_path": path}
    middleware = asgi.SignatureMiddleware(application, verifier=OURS.verifier(), origins=[ORIGIN], **options)
    asyncio.run(middleware({**scope, "query_string": b"", "headers": headers}, receive, send))
    return statuses[0]


def reject_over_wsgi(target: str, fields, **options) -> int:
    """Return the status of the answer."""
    statuses: list[str] = []

    def application(_environ, _start_response) -> list[bytes]:
        raise AssertionError

    shown = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in fields}
    line = {"REQUEST_METHOD": "POST", "PATH_INFO": target, "RAW_URI": target, "SERVER_PROTOCOL": "HTTP/1.1"}
    environ = {**line, **shown, "wsgi.input": BytesIO(), "SERVER_SOFTWARE": "gunicorn"}
    middleware = wsgi.SignatureMiddleware(application, verifier=OURS.verifier(), origins=[ORIGIN], **options)
    middleware(environ, lambda status, _fields: statuses.append(status))
    return int(statuses[0][:3])


REJECTED = {
    "a signature over another target": ("/q", SIGNED, {}),
    "a field that is not a dictionary": ("/p", NO_DICTIONARY, {}),
    "a target without canonical form": ("/%2e", SIGNED, {}),
    "another origin": ("/p", [("Host", "other.example")], {"policy": POLICY}),
    "no signature": ("/p", [("Host", HOST)], {}),
    "no signature, by a policy": ("/create_media_buy", [("Host", HOST)], {"policy": POLICY}),
    "an operation that is not resolved": ("/%2e", [("Host", HOST)], {"policy": POLICY}),
}


@pytest.mark.parametrize("reject", [reject_over_asgi, reject_over_wsgi])
@pytest.mark.parametrize(("target", "fields", "options"), REJECTED.values(), ids=REJECTED)
def test_memory_of_a_rejected_request_is_free_at_once(reject, target, fields, options):
    before = count_messages()
    assert reject(target, fields, **options) in {400, 401}
    assert count_messages() == before


@pytest.mark.parametrize("reject", [reject_over_asgi, reject_over_wsgi])
def test_exception_that_the_caller_handles_keeps_its_frames(reject):
    own = KeyError("own")
    try:
        raise own
    except KeyError:
        reject("/q", SIGNED)
    assert own.__traceback__ is not None


def test_memory_of_a_request_that_a_verifier_rejects_is_free_at_once():
    def is_rejected() -> bool:
        try:
            OURS.verifier().verify(Request("POST", f"{ORIGIN}/q", SIGNED))
        except SignatureError:
            return True
        return False

    before = count_messages()
    assert is_rejected()
    assert count_messages() == before

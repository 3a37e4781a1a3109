"""An application answers signed requests as without the middleware, in every framework, on a real server."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.integrations.every_framework import FRAMEWORKS
from tests.integrations.unsigned import HOST, Answer, Unsigned, ask, requests

from undersigned import Request
from undersigned.errors import MalformedURL, SigningError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.keys import Party

# Some frameworks leave files open, with and without the middleware.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ORIGIN = f"http://{HOST}"
"""Of the scheme that an application sees without the middleware, in the redirects that it sends."""

NO_JSON_OF_ADCP = (b'{"a":1,"a":2}', b"[" * 5000, b"NaN", b'{"a":', b'{"a":"\xff"}', b"\xef\xbb\xbf{}")
"""Content that AdCP rejects, also if it is signed."""

# aiohttp decompresses content before its middlewares run. Alone, Django reads no content without Content-Length.
DOCUMENTED = {"aiohttp": "Content-Encoding 2 octets", "django-gunicorn": " chunked"}


def signed(party: Party) -> Iterator[tuple[str, Unsigned]]:
    """Yield the requests that a client can sign, each with a name."""
    for at, request in enumerate(requests()):
        body = request.body or b""
        # Without content there is no digest, so a client sends no empty content in chunks. Clients encode braces.
        if request.host != HOST or body in NO_JSON_OF_ADCP or (request.chunked and not body) or "{" in request.target:
            continue
        message = Request(request.method, ORIGIN + request.target, request.fields, body)
        try:
            fields = party.signer.sign(message)
        except (MalformedURL, SigningError):
            continue
        target = fields.target_uri.removeprefix(ORIGIN)
        yield f"{request}, {at}", replace(request, target=target, fields=[*message.fields, *fields])


def seen(port: int, party: Party) -> dict[str, object]:
    return {
        name: without_caller(ask(port, request)) if request.target.startswith("/open") else ask(port, request)
        for name, request in signed(party)
    }


def without_caller(answer: Answer | str) -> object:
    """Return an answer without the signer, whom an application knows only behind the middleware."""
    if isinstance(answer, str):
        return answer
    fields = tuple((name, value) for name, value in answer.fields if name not in {"content-length", "etag"})
    told = json.loads(answer.content) | {"caller": None} if b'"caller"' in answer.content else answer.content
    return answer.status, fields, told


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_signed_request_is_answered_as_without_the_middleware(framework, party):
    with framework.running() as port:
        alone = seen(port, party)
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "mode": "optional", "max_body": 6_000_000}
    with framework.running(options) as port:
        behind = seen(port, party)
    documented = DOCUMENTED.get(framework.name)
    different = [
        f"{name}: {alone[name]} became {behind[name]}"[:500]
        for name in alone
        if alone[name] != behind[name] and not (documented and documented in name)
    ]
    assert len(alone) > 150
    assert different == []

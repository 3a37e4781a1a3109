"""Every published profile over sockets: signed by every kind of client hook, verified by both middlewares.

The legacy scheme of draft-cavage-12 is one more row.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import pytest
from tests.integrations.every_client import CLIENTS
from tests.keys import OneKey, signing_key, verification_key
from tests.profiles.test_signing import FIELDS, sign
from tests.serving import uvicorn_server, waitress_server
from tests.wire import exchange, raw_request

from undersigned import MemoryReplayStore, Profile, Request, Signer, Verifier, asgi, profiles, wsgi
from undersigned.activitypub import ActivityPubVerifier
from undersigned.cavage import CavageSigner
from undersigned.middleware import ErrorResponse

NAMES = [name for name in profiles.__all__ if isinstance(getattr(profiles, name), Profile)]
REQUESTS = [name for name in NAMES if getattr(profiles, name).message == "request"]
DRAFT = "draft-cavage-12"
PATH, BODY = "/orders/1?q=1", b'{"plan":"gold"}'
HOOKS = [one for one in CLIENTS if str(one) in {"requests", "httpx-sync", "httpx2-async", "aiohttp"}]
KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])
EVERY_HOOK = pytest.mark.parametrize("client", HOOKS, ids=str)


def here(authority: str) -> str:
    return f"http://{authority}"


@dataclass
class Origin:
    """A server, as the clients take it."""

    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def profile_of(name):
    return profiles.ACTIVITYPUB if name == DRAFT else getattr(profiles, name)


def algorithm(name) -> str:
    return "ed25519" if "ed25519" in profile_of(name).algorithms else "rsa-v1_5-sha256"


def verifier(name) -> Verifier:
    keys = OneKey(verification_key(algorithm(name)))
    if name == DRAFT:
        return ActivityPubVerifier(keys=keys, required=("(request-target)", "host"))
    return Verifier(profile_of(name), keys=keys, replay=MemoryReplayStore())


def signer(name) -> Signer | CavageSigner:
    key = signing_key(algorithm(name))
    return CavageSigner(key) if name == DRAFT else Signer(key, profile=profile_of(name))


async def asgi_application(scope, receive, send) -> None:
    content, message = b"", {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        content += message["body"]
    told = answer(asgi.find_signature(scope), content)
    headers = [(name.lower().encode(), value.encode()) for name, value in TOKEN_AND_TYPE]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": told})


def wsgi_application(environ, start_response):
    told = answer(wsgi.find_signature(environ), environ["wsgi.input"].read())
    start_response("200 OK", [*TOKEN_AND_TYPE, ("Content-Length", str(len(told)))])
    return [told]


TOKEN_AND_TYPE = [("Content-Type", "application/json"), ("Workload-Identity-Token", "e30.e30.e30")]


def answer(signature, content) -> bytes:
    """What the application knows of a request, and of the content it was given."""
    return json.dumps(
        [signature.keyid, signature.algorithm, signature.method, signature.target_uri, content.decode()]
    ).encode()


def verifying(kind, name):
    options = {"verifier": verifier(name), "origins": here}
    if kind == "asgi":
        return asgi.SignatureMiddleware(asgi_application, **options)
    return wsgi.SignatureMiddleware(wsgi_application, **options)


def serving(kind, app):
    return uvicorn_server(app) if kind == "asgi" else waitress_server(app)


def covers_content(name) -> bool:
    return name == DRAFT or '"content-digest"' in read_covered(name)


def read_covered(name) -> str:
    request = Request("POST", f"https://a.example{PATH}", FIELDS, BODY)
    made = sign(profile_of(name), request, algorithm(name))
    return made.fields.combined["signature-input"]


@KINDS
@EVERY_HOOK
@pytest.mark.parametrize("name", [*REQUESTS, DRAFT])
def test_request_of_every_client_reaches_the_application_by_its_profile(kind, client, name):
    with serving(kind, verifying(kind, name)) as port:
        server = Origin(port)
        status, text = client.send(server, PATH, method="POST", signer=signer(name), body=BODY, fields=dict(FIELDS))
    assert status == 200, text
    keyid, by, method, target, content = json.loads(text)
    key = signing_key(algorithm(name))
    assert (by, method, target) == (key.algorithm, "POST", f"{server.origin}{PATH}")
    assert keyid == (key.keyid if "keyid" in profile_of(name).written else "")
    assert content == BODY.decode()


def sign_request(name, port) -> Request:
    """A signed request to the server, with its Host."""
    request = Request("POST", f"http://127.0.0.1:{port}{PATH}", [("Host", f"127.0.0.1:{port}"), *FIELDS], BODY)
    return replace(request, fields=[*request.fields, *signer(name).sign(request)])


def exchange_with(port, request, *, target=PATH, body=BODY) -> tuple[int, bytes]:
    head, _, content = exchange(port, raw_request(request.method, target, request.fields, body)).partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), content


def damage(request) -> Request:
    """The request with another first character in its last signature."""
    value = request.fields.combined["signature"]
    at = [match.start(1) for match in re.finditer(r'(?:signature="|=:)([\w+/-])', value)][-1]
    other = f"{value[:at]}{'B' if value[at] == 'A' else 'A'}{value[at + 1 :]}"
    return replace(request, fields=[*((n, v) for n, v in request.fields if n != "signature"), ("Signature", other)])


@KINDS
@pytest.mark.parametrize("name", [*REQUESTS, DRAFT])
def test_changed_request_is_rejected_as_its_profile_says(kind, name):
    profile = profile_of(name)
    with serving(kind, verifying(kind, name)) as port:
        request = sign_request(name, port)
        answers = {"signature_invalid": exchange_with(port, damage(request))}
        if covers_content(name):
            answers["signature_digest_mismatch"] = exchange_with(port, request, body=BODY.replace(b"gold", b"lead"))
        if name == DRAFT or any(text in read_covered(name) for text in ('"@target-uri"', '"@path"')):
            answers["signature_invalid", "target"] = exchange_with(port, request, target="/orders/2?q=1")
        if profile.parameters.audience:
            answers["signature_params_unexpected"] = exchange_with(port, request, target="/orders/2?q=1")
        accepted = exchange_with(port, request)
    assert len(answers) >= 1 + (not name.startswith("WEB_BOT_AUTH"))
    for reason, got in answers.items():
        told = reason if isinstance(reason, str) else reason[0]
        wanted = ErrorResponse.of(profile.error(told, step=0, detail=""))
        assert got == (wanted.status, wanted.body), reason
    assert accepted[0] == 200

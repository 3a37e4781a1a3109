"""The trial: requests as they were signed and with one change each, sent by two clients to two servers."""

# No `from __future__ import annotations`: FastAPI reads an endpoint's annotations when it is declared.
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple, TypeAlias

import httpx
import requests
import uvicorn
from fastapi import Depends, FastAPI
from fastapi.responses import PlainTextResponse
from flask import Flask
from werkzeug.serving import make_server

from undersigned import KeyPair, KeySet, MemoryReplayStore, Signer, VerifiedSignature, Verifier, profiles
from undersigned_fastapi import SignatureMiddleware, require_signature
from undersigned_flask import Undersigned, current_signature, signature_required
from undersigned_httpx import SignatureTransport
from undersigned_requests import SignatureAuth

_CHALLENGE = re.compile(r'Signature error="([a-z_]+)"')
_BODY = b'{"budget": 1000}'
_JSON = {"Content-Type": "application/json"}
_PROFILE = profiles.ADCP_3_2
_METHODS = ["GET", "POST", "PUT"]


class Sent(NamedTuple):
    """A request as it goes over the wire."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes


_Answer: TypeAlias = tuple[int, str]
_Send: TypeAlias = Callable[[Sent], _Answer]
_Sign: TypeAlias = Callable[[Sent, Signer], Sent]


def _keep(sent: Sent) -> Sent:
    return sent


class Attempt(NamedTuple):
    """A row of the table.

    Attributes:
        name: the description of the change.
        why: the code of the rejection; what an accepted request is answered with, if it is none.
        target: the request target that is signed.
        signer: who signs: `buyer`, `late`, `stranger` or nobody.
        change: the change to the request after signing.
        times: how often it is sent; the last answer counts.
    """

    name: str
    why: str
    target: str = "/orders?b=2&a=1"
    signer: str = "buyer"
    change: Callable[[Sent], Sent] = _keep
    times: int = 1


def _other_path(sent: Sent) -> Sent:
    return sent._replace(url=sent.url.replace("/orders", "/refunds"))


def _other_query(sent: Sent) -> Sent:
    return sent._replace(url=sent.url.replace("a=1", "a=2"))


def _other_body(sent: Sent) -> Sent:
    return sent._replace(body=sent.body.replace(b"1", b"9"))


def _other_method(sent: Sent) -> Sent:
    return sent._replace(method="PUT")


def _other_host(sent: Sent) -> Sent:
    kept = {name: value for name, value in sent.headers.items() if name != "host"}
    return sent._replace(headers={**kept, "Host": "other.example"})


ATTEMPTS = (
    Attempt("as signed", "verified /orders?b=2&a=1"),
    Attempt("as signed, /a%2Fb", "verified /a%2Fb", target="/a%2Fb"),
    Attempt("another path", "request_signature_invalid", change=_other_path),
    Attempt("another query", "request_signature_invalid", change=_other_query),
    Attempt("another body", "request_signature_digest_mismatch", change=_other_body),
    Attempt("another method", "request_signature_invalid", change=_other_method),
    Attempt("another Host", "request_target_uri_malformed", change=_other_host),
    Attempt("a replay", "request_signature_replayed", times=2),
    Attempt("an expired one", "request_signature_window_invalid", signer="late"),
    Attempt("an unknown key", "request_signature_key_unknown", signer="stranger"),
    Attempt("no signature", "request_signature_required", signer=""),
)
"""The rows of the table: requests as signed, then requests with one change each."""


@contextmanager
def _quiet() -> Generator[None]:
    """Log no rejections: the tables have them."""
    loggers = [logging.getLogger(name) for name in ("undersigned", "werkzeug")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def run() -> Iterator[tuple[str, bool]]:
    """Yield the lines of the tables, and whether each is as it must be."""
    pair = KeyPair.generate(keyid="buyer")
    signers = {
        "buyer": Signer(pair.signing_key(), profile=_PROFILE),
        "late": Signer(pair.signing_key(), profile=_PROFILE, clock=lambda: time.time() - 3600),
        "stranger": Signer(KeyPair.generate(keyid="stranger").signing_key(), profile=_PROFILE),
    }
    right = total = 0
    with (
        _quiet(),
        _serve_fastapi(pair.key_set()) as fastapi,
        _serve_flask(pair.key_set()) as flask,
        _clients() as clients,
    ):
        yield f"FastAPI under uvicorn: {fastapi}", True
        yield f"Flask under Werkzeug:  {flask}", True
        for client, (sign, send) in clients.items():
            yield f"\n{f'sent by {client}':20}FastAPI  Flask  why", True
            for attempt in ATTEMPTS:
                answers = [
                    _try(attempt, origin, signers.get(attempt.signer), sign, send) for origin in (fastapi, flask)
                ]
                status = 200 if attempt.why.startswith("verified") else 401
                is_right = answers == [(status, attempt.why)] * 2
                why = " / ".join(dict.fromkeys(why for _, why in answers))
                cells = f"{attempt.name:20}{answers[0][0]:<9}{answers[1][0]:<7}{why:36}"
                yield f"{cells}{'ok' if is_right else f'NO, expected {attempt.why}'}", is_right
                right, total = right + is_right, total + 1
    yield f"\n{right} of {total} checks passed.", right == total


def _try(attempt: Attempt, origin: str, signer: Signer | None, sign: _Sign, send: _Send) -> _Answer:
    body = b"" if "%" in attempt.target else _BODY
    sent = Sent("POST" if body else "GET", origin + attempt.target, _JSON if body else {}, body)
    sent = attempt.change(sent if signer is None else sign(sent, signer))
    answer = send(sent)
    for _ in range(attempt.times - 1):
        answer = send(sent)
    return answer


def _origin(sent: Sent) -> str:
    return "/".join(sent.url.split("/")[:3])


def _read(status: int, challenge: str, text: str) -> _Answer:
    match = _CHALLENGE.fullmatch(challenge)
    return status, text if match is None else match[1]


@contextmanager
def _clients() -> Generator[dict[str, tuple[_Sign, _Send]]]:
    """Yield how each client signs a request, and how it sends one as it is."""
    # A proxy of the environment must not get the requests to loopback addresses.
    with requests.Session() as session, httpx.Client(trust_env=False) as client:
        session.trust_env = False

        def sign_by_requests(sent: Sent, signer: Signer) -> Sent:
            auth = SignatureAuth(signer, origins=[_origin(sent)])
            prepared = requests.Request(sent.method, sent.url, sent.headers, data=sent.body, auth=auth).prepare()
            return sent._replace(
                url=str(prepared.url), headers={name: str(value) for name, value in prepared.headers.items()}
            )

        def send_by_requests(sent: Sent) -> _Answer:
            prepared = requests.Request(sent.method, sent.url, sent.headers, data=sent.body).prepare()
            answer = session.send(prepared, timeout=5)
            return _read(answer.status_code, answer.headers.get("WWW-Authenticate", ""), answer.text)

        def sign_by_httpx(sent: Sent, signer: Signer) -> Sent:
            signed: list[httpx.Request] = []

            def keep(request: httpx.Request) -> httpx.Response:
                signed.append(request)
                return httpx.Response(204)

            with SignatureTransport(httpx.MockTransport(keep), signer, origins=[_origin(sent)]) as transport:
                transport.handle_request(httpx.Request(sent.method, sent.url, headers=sent.headers, content=sent.body))
            return sent._replace(url=str(signed[0].url), headers=dict(signed[0].headers))

        def send_by_httpx(sent: Sent) -> _Answer:
            answer = client.request(sent.method, sent.url, headers=sent.headers, content=sent.body)
            return _read(answer.status_code, answer.headers.get("WWW-Authenticate", ""), answer.text)

        yield {"requests": (sign_by_requests, send_by_requests), "httpx": (sign_by_httpx, send_by_httpx)}


def _verifier(keys: KeySet) -> Verifier:
    return Verifier(_PROFILE, keys=keys, replay=MemoryReplayStore())


@contextmanager
def _serve_fastapi(keys: KeySet) -> Generator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = FastAPI(openapi_url=None)

        @app.api_route("/{path:path}", methods=_METHODS)
        async def endpoint(signature: Annotated[VerifiedSignature, Depends(require_signature)]) -> object:
            return PlainTextResponse(f"verified {signature.target_uri.removeprefix(origin)}")

        app.add_middleware(SignatureMiddleware, verifier=_verifier(keys), origins=[origin])
        server = uvicorn.Server(uvicorn.Config(app, http="h11", ws="none", lifespan="off", log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield origin
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def _serve_flask(keys: KeySet) -> Generator[str]:
    app = Flask(__name__)

    @app.route("/<path:path>", methods=_METHODS)
    @signature_required
    def endpoint(path: str) -> str:  # noqa: ARG001 - Flask passes what the rule names
        return f"verified {current_signature.target_uri.removeprefix(origin)}"

    with make_server("127.0.0.1", 0, app, threaded=True) as server:
        origin = f"http://127.0.0.1:{server.port}"
        Undersigned(app, verifier=_verifier(keys), origins=[origin])
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield origin
        finally:
            server.shutdown()
            thread.join()

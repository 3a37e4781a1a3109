"""A server that signs its responses, and sends some of them other than it signed them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from tests.integrations.capture import threaded
from tests.keys import OneKey, key_pair, verification_key

from undersigned import MemoryReplayStore, Request, Response, Signer, Verifier
from undersigned.client import ResponseVerification
from undersigned.profiles import FAPI_2_RESPONSE

if TYPE_CHECKING:
    import contextlib

PROFILE = FAPI_2_RESPONSE.derive(
    name="answers",
    coverage=FAPI_2_RESPONSE.coverage._replace(
        with_content=("content-type",), offered=("location", "set-cookie", "set-cookie2", "x-plan")
    ),
)
BARE = PROFILE.derive(name="answers-bare", coverage=PROFILE.coverage._replace(with_content=(), offered=()))
ENCODED = PROFILE.derive(name="answers-encoded", coverage=PROFILE.coverage._replace(if_sent=("content-encoding",)))
UNCOVERED = PROFILE.derive(name="answers-without-digest", digest=PROFILE.digest._replace(policy="either"))
JSON = '{"plan":"gold"}'
TAMPERED = ["status", "body", "header", "other", "again", "unsigned", "stripped"]
"""The paths whose responses are changed on their way, are of another request, or are not signed."""

_TYPE = ("Content-Type", "application/json")


def verifier(profile=PROFILE, *, kind=Verifier):
    return kind(profile, keys=OneKey(verification_key("ed25519")), replay=MemoryReplayStore())


def verification(profile=PROFILE, *, kind=Verifier, **options) -> ResponseVerification:
    return ResponseVerification(verifier(profile, kind=kind), **{"signers": None, **options})


class Answering(ThreadingHTTPServer):
    """The server, and the paths that it was asked for."""

    daemon_threads = True

    def __init__(self, profile) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.signer = Signer(key_pair("ed25519").signing_key(), profile=profile)
        self.asked: list[str] = []
        self.first: Response | None = None
        self.honest: tuple = (200,)
        self.relayed: list[tuple[str, str]] = []

    def signed(self, response: Response) -> Response:
        return replace(response, fields=[*response.fields, *self.signer.sign_response(response)])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(self.path)
        self.send(getattr(self, f"answer_{self.path[1:]}")())

    do_POST = do_HEAD = do_GET  # noqa: N815 - the names that http.server calls

    def response(self, status=200, fields=(_TYPE,), body=JSON, path=None) -> Response:
        request = Request(self.command, self.server.origin + (path or self.path), self.headers.items())
        return Response(status, fields, "" if self.command == "HEAD" else body, request=request)

    def answer_ok(self):
        return self.server.signed(self.response())

    def answer_status(self):
        return replace(self.answer_ok(), status=201)

    def answer_body(self):
        return replace(self.answer_ok(), body=JSON.replace("gold", "lead"))

    def answer_header(self):
        signed = self.answer_ok()
        return replace(signed, fields=[("content-type", "text/html"), *list(signed.fields)[1:]])

    def answer_other(self):
        return self.server.signed(self.response(path="/another"))

    def answer_again(self):
        self.server.first = self.server.first or self.answer_ok()
        return self.server.first

    def answer_unsigned(self):
        return self.response()

    def answer_stripped(self):
        signed = self.answer_ok()
        return replace(signed, fields=[field for field in signed.fields if field[0] != "signature"])

    def answer_error(self):
        return self.server.signed(self.response(401))

    def answer_redirect(self):
        return self.server.signed(self.response(302, [("Location", "/ok")], ""))

    def answer_moved(self):
        return self.response(302, [("Location", "/ok")], "")

    def answer_relayed(self):
        """Answer as the server says, but for fields that a relay has changed, which are sent instead."""
        response = self.server.signed(self.response(*self.server.honest))
        named = {name.lower() for name, _ in self.server.relayed}
        kept = [(name, value) for name, value in response.fields if name not in named]
        return replace(response, fields=kept)

    def answer_long(self):
        return self.server.signed(self.response(body="x" * 100_000))

    def answer_chunked(self):
        return self.server.signed(self.response(fields=[_TYPE, ("Transfer-Encoding", "chunked")]))

    def answer_cookie(self):
        return self.server.signed(self.response(fields=[_TYPE, ("Set-Cookie", "a=1")]))

    def answer_compressed(self):
        return self.server.signed(
            self.response(fields=[_TYPE, ("Content-Encoding", "gzip")], body=gzip.compress(JSON.encode()))
        )

    def send(self, response: Response) -> None:
        self.send_response_only(response.status)
        for name, value in [*response.fields, *(self.server.relayed if self.path == "/relayed" else ())]:
            self.send_header(name, value)
        body = response.body
        if "transfer-encoding" in response.fields.combined:
            body = b"".join(b"1\r\n%c\r\n" % octet for octet in body) + b"0\r\n\r\n"
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments) -> None:
        """Say nothing."""


def answering(profile=PROFILE) -> contextlib.AbstractContextManager[Answering]:
    return threaded(Answering(profile))

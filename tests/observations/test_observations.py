"""Over everything that servers showed applications, a rebuilt request is the one that was sent, or it is rejected.

`http1.json` and `http2.json` are recordings of real servers on loopback, one case a line. `wire` is what was sent. Each
of `shown` is the scope or environ that the servers in `by` made of it, as far as the middlewares read it.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from tests.drive import call_asgi, call_wsgi
from tests.keys import KEYS

from undersigned import MemoryReplayStore, SignatureError, Verifier, asgi, profiles, wsgi

if TYPE_CHECKING:
    from undersigned import Request

HERE = Path(__file__).parent
CASES = {name: json.loads((HERE / f"{name}.json").read_text("utf-8")) for name in ("http1", "http2")}
# What is accepted and is not what was sent, to the letter. A lone `?` is not listed:
# no ASGI server shows it, and with an empty query both spellings are candidates.
HTTPTOOLS = ("uvicorn-httptools", "uvicorn-wsgi")
GRANIAN = ("granian-asgi",)
FAST_PARSER = ("gunicorn-sync", "gunicorn-gthread", "gunicorn-gevent", "gunicorn-asgi-h1c")
GUNICORN_H2 = ("gunicorn-asgi-h2", "gunicorn-asgi-tls")
NOT_KNOWN = {
    # Absolute-form is seen as origin-form.
    ("http1", "d1-absolute-other"): (*HTTPTOOLS, *GRANIAN),
    ("http1", "d2-absolute-same"): (*HTTPTOOLS, *GRANIAN),
    ("http1", "d3-absolute-nopath"): GRANIAN,
    ("http1", "d4-absolute-nopath-q"): GRANIAN,
    ("http1", "d5-absolute-case"): (*HTTPTOOLS, *GRANIAN),
    ("http1", "d6-absolute-https"): (*HTTPTOOLS, *GRANIAN),
    ("http1", "d8-absolute-userinfo"): (*HTTPTOOLS, *GRANIAN),
    ("http1", "d10-absolute-dslash"): (*HTTPTOOLS, *GRANIAN),
    ("http2", "f15-d1-absolute-path"): GUNICORN_H2,
    # Absolute-form without Host: the Host is made from it.
    ("http1", "d9-absolute-other-nohost"): GRANIAN,
    # The fragment is removed.
    ("http1", "j1-frag"): (*HTTPTOOLS, *GRANIAN),
    ("http1", "j1b-q-frag"): (*HTTPTOOLS, *GRANIAN),
    ("http2", "f15-j1-frag"): GUNICORN_H2,
    # Extra spaces in the request line.
    ("http1", "j19-extra-space"): (*HTTPTOOLS, *FAST_PARSER, "werkzeug"),
    # The case of the method.
    ("http1", "j16-lower-method"): ("hypercorn",),
    # Slashes at the start.
    ("http1", "a3-dslash-lead"): ("werkzeug",),
    ("http1", "a8-slash3"): ("werkzeug",),
}
EXPECTED = {(server, *case) for case, servers in NOT_KNOWN.items() for server in servers}
# Spellings that every server which can be trusted at all must let through.
HONEST = (
    "a1-mixed",
    "a2-dotdot",
    "a5-lowerhex",
    "b1-lone-q",
    "b2-no-q",
    "c1-plus-pct",
    "c4-pct-utf8",
    "c5-pct-nonutf8",
)
REJECTED = {"bjoern", "cheroot", "gevent-pywsgi", "granian-wsgi", "hypercorn-wsgi", "wsgiref"}


# Any authority, so that the check of the origin does not hide a rule that should reject.
ORIGINS = [
    *(f"http://{name}.example" for name in ("real", "evil", "other", "re_al", "pub", "fwd")),
    *(f"http://real.example:{port}" for port in (443, 8080, 8443)),
    *("http://pub.example:8443", "http://[2001:db8::1]:8000", "http://[::1]"),
]
HTTP2_SERVERS = ("hypercorn", "gunicorn", "daphne", "uvicorn")
SIGNATURE = {"signature": "sig1=:AA==:", "signature-input": 'sig1=("@target-uri");keyid="a"'}


@dataclass(frozen=True)
class Rebuilt:
    """A request as its signature would be checked."""

    method: str
    target: str
    host: str

    def equals(self, wire_request: dict) -> bool:
        """Return whether it is the one that was sent."""
        hosts = {host.strip(" \t") for host in wire_request["hosts"]}
        return (self.method, self.target, {self.host}) == (wire_request["method"], wire_request["target"], hosts)

    def lacks_only_a_question_mark(self, wire_request: dict) -> bool:
        """Return whether it is the one that was sent but for a lone `?`."""
        return Rebuilt(self.method, self.target + "?", self.host).equals(wire_request)


class Rebuilding(Verifier):
    """A verifier that keeps the request it is asked about, if its header fields may be read, and rejects it."""

    rebuilt: Rebuilt | None = None

    def screen(self, message: Request) -> NoReturn:
        """Keep the request: the target begins after the authority."""
        if message.fields.are_valid:
            target = message.url.partition("://")[2]
            self.rebuilt = Rebuilt(message.method, target[target.index("/") :], message.fields.values("host")[0])
        raise SignatureError("rebuilt")


def rebuilt_by(server: str, shown: dict) -> Rebuilt | None:
    """Return what the middleware rebuilds of a signed request, or None if it rejects it before."""
    verifier = Rebuilding(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
    http2_server = next((name for name in HTTP2_SERVERS if server.startswith(name)), None)
    options = {"verifier": verifier, "origins": ORIGINS, "http2_server": http2_server}
    if "scope" in shown:
        signed = [(name.encode(), value.encode()) for name, value in SIGNATURE.items()]
        scope = shown["scope"] | {"type": "http", "headers": [*shown["scope"]["headers"], *signed]}
        asyncio.run(call_asgi(asgi.SignatureMiddleware(None, **options), scope))
    else:
        signed = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in SIGNATURE.items()}
        call_wsgi(wsgi.SignatureMiddleware(None, **options), shown["environ"] | signed)
    return verifier.rebuilt


def full_scope(shown: dict) -> dict:
    fields = [(b"host", host.encode("latin-1")) for host in shown["hosts"]]
    return {
        "http_version": shown.get("http_version", "1.1"),
        "method": shown.get("method", "GET"),
        "path": shown["path"],
        "raw_path": shown["raw_path"].encode("latin-1"),
        "query_string": shown.get("query_string", "").encode("latin-1"),
        "root_path": shown.get("root_path", ""),
        "headers": [*fields, (b"", b" two")] if shown.get("nameless") else fields,
    }


def full_environ(shown: dict) -> dict:
    environ = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "QUERY_STRING": "", "SERVER_PROTOCOL": "HTTP/1.1", **shown}
    if "asgi.scope" in shown:
        environ["asgi.scope"] = full_scope(shown["asgi.scope"])
    return environ


def full(shown: dict) -> dict:
    if "scope" in shown:
        return {"scope": full_scope(shown["scope"])}
    return {"environ": full_environ(shown["environ"])}


@pytest.fixture(scope="module")
def observations() -> list[tuple]:
    """Return server, protocol, case, what was rebuilt and what was sent, for every observation."""
    return [
        (server, protocol, case, rebuilt_by(server, full(shown)), observed["wire"])
        for protocol, cases in CASES.items()
        for case, observed in cases.items()
        for shown in observed["shown"]
        for server in shown["by"]
    ]


def test_rebuilt_request_differs_only_in_what_the_server_hides(observations):
    differing = {
        (server, protocol, case)
        for server, protocol, case, rebuilt, sent in observations
        if rebuilt is not None and not rebuilt.equals(sent) and not rebuilt.lacks_only_a_question_mark(sent)
    }
    assert differing == EXPECTED


def test_valid_request_is_rejected_only_when_the_server_hides_its_target(observations):
    assert {server for server, _, case, rebuilt, _ in observations if case in HONEST and rebuilt is None} == REJECTED


def test_every_observation_has_a_file(observations):
    assert len(observations) == 3932
    assert len({server for server, *_ in observations}) == 33

"""What the middlewares rebuild of the values that a server showed: a request, or nothing if they reject it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from tests.drive import call_asgi, call_wsgi
from tests.keys import KEYS

from undersigned import MemoryReplayStore, SignatureError, Verifier, asgi, profiles, wsgi

if TYPE_CHECKING:
    from undersigned import Request

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

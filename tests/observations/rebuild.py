"""The middlewares' own rules applied to the values that a server showed: a request is rebuilt, or rejected."""

from __future__ import annotations

from dataclasses import dataclass

from undersigned import MalformedURL, SignatureError, profiles
from undersigned.asgi.scope import request_target as asgi_target
from undersigned.message import HeaderFields
from undersigned.middleware import authority
from undersigned.url import Origins
from undersigned.wsgi.environ import field_lines
from undersigned.wsgi.environ import request_target as wsgi_target
from undersigned.wsgi.servers import check_server, detected_server

PROFILE = profiles.ADCP_3_2
# Any authority, so that the check of the origin does not hide a rule that should reject.
ORIGINS = Origins(
    f"http://{authority}"
    for authority in (
        "real.example",
        "evil.example",
        "other.example",
        "re_al.example",
        "real.example:443",
        "real.example:8080",
        "real.example:8443",
        "[2001:db8::1]:8000",
        "[::1]",
        "pub.example",
        "pub.example:8443",
        "fwd.example",
    )
)
HTTP2_SERVERS = {"hypercorn": "hypercorn", "gunicorn": "gunicorn", "daphne": "daphne", "uvicorn": "uvicorn"}


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


def _http2_server(server: str) -> str | None:
    return next((name for start, name in HTTP2_SERVERS.items() if server.startswith(start)), None)


def _rebuilt(method: str, target, hosts: list[str], *, several: bool) -> Rebuilt:
    fields = HeaderFields([("host", host) for host in hosts])
    authority.check_head(method, fields, (), PROFILE)
    authority.matched_origin(ORIGINS, fields, "2" if several else "1.1")
    host = fields.values("host")[0]
    query = "" if target.query is None else f"?{target.query}"
    return Rebuilt(method, target.path + query, host)


def _check_fields(version: str, server: str, fields: list[tuple[str, str]]) -> None:
    authority.check_version(version.removeprefix("HTTP/"), _http2_server(server), detect=lambda: None, profile=PROFILE)
    if not HeaderFields(fields).are_valid:
        raise MalformedURL("a field is not sound", rule="test")


def of_scope(server: str, scope: dict) -> Rebuilt | None:
    """Return what the ASGI middleware rebuilds, or None if it rejects."""
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    version = scope["http_version"]
    try:
        _check_fields(version, server, fields)
        target = asgi_target(scope, PROFILE, server_adds_root_path=False)
        hosts = HeaderFields(fields).values("host")
        return _rebuilt(scope["method"], target, hosts, several=not version.startswith("1."))
    except (MalformedURL, SignatureError):
        return None


def of_environ(server: str, environ: dict) -> Rebuilt | None:
    """Return what the WSGI middleware rebuilds, or None if it rejects."""
    fields = field_lines(environ)
    try:
        detected = detected_server(environ, None)
        check_server(detected, environ, PROFILE)
        _check_fields(environ.get("SERVER_PROTOCOL", ""), server, fields)
        target = wsgi_target(environ, PROFILE, reconstruct=False, server=detected)
        hosts = [value.strip(" \t") for name, value in fields if name == "host"]
        return _rebuilt(environ["REQUEST_METHOD"], target, hosts, several=False)
    except (MalformedURL, SignatureError):
        return None

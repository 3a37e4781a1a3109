"""WSGI servers by their traces: rejected or warned about by name."""

from __future__ import annotations

import logging

import pytest
from tests.serving import gunicorn_server
from tests.wire import exchange
from tests.wsgi.test_middleware import Echo, environ_of, run

from undersigned import VerificationUnavailable, profiles, wsgi
from undersigned.wsgi.servers import check_server, detected_server, missing_target_error

ORIGIN = "https://seller.example.com"


class FileWrapper:
    """A stand-in for bjoern's own, which C code defines."""


FileWrapper.__module__ = "builtins"


class UWSGIRequest:
    """A stand-in for the request that gunicorn reads from the uwsgi protocol."""


UWSGIRequest.__module__ = "gunicorn.uwsgi.message"


class Response:
    def __init__(self, request: object) -> None:
        self.req = request

    def start_response(self) -> None:
        """A stand-in for a server's own callable."""


def hypercorns() -> None:
    """A stand-in for a server's own callable."""


hypercorns.__module__ = "hypercorn.app_wrappers"


@pytest.mark.parametrize(
    ("environ", "start_response", "server"),
    [
        ({"SERVER_SOFTWARE": "Cheroot/11.1.2 Server"}, None, "cheroot"),
        ({"SERVER_SOFTWARE": "CherryPy/18.10.0"}, None, "cheroot"),
        ({"SERVER_SOFTWARE": "Granian"}, None, "granian"),
        ({"SERVER_SOFTWARE": "Werkzeug/3.1.9"}, None, "werkzeug"),
        ({"SERVER_SOFTWARE": "WSGIServer/0.2"}, None, "wsgiref"),
        ({"SERVER_SOFTWARE": "gevent/20.0 Python/3.11"}, None, "gevent"),
        ({"SERVER_SOFTWARE": "waitress"}, None, None),
        ({"wsgi.file_wrapper": FileWrapper}, None, "bjoern"),
        ({"wsgi.file_wrapper": print}, None, None),
        ({}, hypercorns, "hypercorn"),
        ({}, Response(UWSGIRequest()).start_response, "gunicorn uwsgi"),
        ({}, Response(None).start_response, None),
        ({}, print, None),
    ],
)
def test_server_is_recognised_by_its_environ(environ, start_response, server):
    assert detected_server(environ, start_response) == server


@pytest.mark.parametrize("server", ["bjoern", "cheroot", "granian", "hypercorn", "gunicorn uwsgi"])
def test_server_that_cannot_show_what_was_signed_is_rejected_by_name(server):
    with pytest.raises(VerificationUnavailable) as caught:
        check_server(server, {}, profiles.ADCP_3_2)
    assert caught.value.code == "request_signature_server_unsupported"
    assert server.split()[0] in caught.value.detail


@pytest.mark.parametrize("server", [None, "gevent", "wsgiref", "werkzeug"])
def test_unknown_server_is_accepted(server):
    check_server(server, {"SCRIPT_NAME": "/api"}, profiles.ADCP_3_2)
    check_server(server, {"SCRIPT_NAME": "", "HTTP_SCRIPT_NAME": "/api"}, profiles.ADCP_3_2)


@pytest.mark.parametrize("mounted", ["/api", "/api/sub"])
@pytest.mark.parametrize("field", ["/api", "/a,/api", "/other", ""])
def test_script_name_is_rejected_when_a_header_field_may_have_set_it(mounted, field):
    with pytest.raises(VerificationUnavailable, match="server_unsupported") as caught:
        check_server(None, {"SCRIPT_NAME": mounted, "HTTP_SCRIPT_NAME": field}, profiles.ADCP_3_2)
    assert "gunicorn's environment" in caught.value.detail


@pytest.mark.parametrize(
    ("server", "fix"),
    [
        ("gevent", "undersigned_gevent.RawTargetHandler"),
        ("wsgiref", "undersigned.wsgi.wsgiref.RawTargetHandler"),
        ("wsgiref", "Django's runserver takes none: accept plain paths only with reconstruct=True"),
        (None, "reconstruct=True"),
    ],
)
def test_missing_target_is_reported_with_the_fix(server, fix):
    assert fix in missing_target_error(server, profiles.ADCP_3_2).detail


def test_werkzeugs_server_causes_one_warning(party, caplog):
    app = wsgi.SignatureMiddleware(Echo(), verifier=party.verifier(), origins=[ORIGIN])
    caplog.clear()
    with caplog.at_level(logging.WARNING, "undersigned"):
        for _ in range(3):
            assert run(app, environ_of(party, SERVER_SOFTWARE="Werkzeug/3.1.9"))[0] == 200
    assert caplog.text.count("for development") == 1


def test_rejected_server_is_answered_503_and_logged_by_name(party, caplog):
    echo = Echo()
    app = wsgi.SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN])
    answer = run(app, environ_of(party, SERVER_SOFTWARE="Cheroot/11.1.2 Server"))
    assert answer == (503, {"error": "request_signature_server_unsupported"})
    assert "cheroot keeps the last of several Host fields" in caplog.text
    assert echo.calls == []


def by_uwsgi(variables: dict[str, str]) -> bytes:
    """A request as a proxy sends it by the uwsgi protocol."""
    packed = b"".join(
        len(part).to_bytes(2, "little") + part for pair in variables.items() for part in map(str.encode, pair)
    )
    return b"\x00" + len(packed).to_bytes(2, "little") + b"\x00" + packed


def test_gunicorn_is_rejected_when_it_speaks_the_uwsgi_protocol(party):
    fields = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in party.fields("GET", f"{ORIGIN}/p")}
    request = {"REQUEST_METHOD": "GET", "PATH_INFO": "/p", "QUERY_STRING": "", "SERVER_PROTOCOL": "HTTP/1.1"}
    app = wsgi.SignatureMiddleware(Echo(), verifier=party.verifier(), origins=[ORIGIN])
    with gunicorn_server(app, protocol="uwsgi") as port:
        response = exchange(port, by_uwsgi({**request, "HTTP_HOST": "seller.example.com", **fields}))
    assert response.startswith(b"HTTP/1.1 503")
    assert b"request_signature_server_unsupported" in response

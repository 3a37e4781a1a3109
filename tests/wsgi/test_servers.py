"""WSGI servers by their traces: rejected or warned about by name."""

from __future__ import annotations

import pytest
from tests.middleware.gate import OverWSGI
from tests.serving import gunicorn_server
from tests.wire import exchange
from tests.wsgi.test_middleware import environ_of

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

    def start_response(self, _status, _fields) -> None:
        """A stand-in for a server's own callable."""


def hypercorns(_status, _fields) -> None:
    """A stand-in for a server's own callable."""


hypercorns.__module__ = "hypercorn.app_wrappers"


UNSUPPORTED = (503, "request_signature_server_unsupported")


@pytest.fixture
def gate(party):
    return OverWSGI(party)


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({"SERVER_SOFTWARE": "Cheroot/11.1.2 Server"}, "cheroot keeps the last"),
        ({"SERVER_SOFTWARE": "CherryPy/18.10.0"}, "cheroot keeps the last"),
        ({"SERVER_SOFTWARE": "Granian"}, "granian's WSGI interface"),
        ({"wsgi.file_wrapper": FileWrapper}, "bjoern joins"),
    ],
)
def test_server_that_cannot_show_what_was_signed_is_rejected_by_name(gate, environ, why):
    assert gate.signed("GET", "/p", **environ) == UNSUPPORTED
    assert gate.decisions[0].evidence().detail.startswith(why)


@pytest.mark.parametrize(
    ("start_response", "why"),
    [(hypercorns, "hypercorn's WSGI"), (Response(UWSGIRequest()).start_response, "gunicorn --protocol uwsgi rebuilds")],
)
def test_server_is_recognised_by_its_own_callable(gate, party, start_response, why):
    # Its own callable is needed, and the answer does not matter.
    gate.app(environ_of(party), start_response)
    assert gate.decisions[0].code == "request_signature_server_unsupported"
    assert gate.decisions[0].evidence().detail.startswith(why)


@pytest.mark.parametrize(
    "environ",
    [
        {"SERVER_SOFTWARE": "waitress"},
        {"SERVER_SOFTWARE": "gevent/20.0 Python/3.11"},
        {"SERVER_SOFTWARE": "WSGIServer/0.2"},
        {"wsgi.file_wrapper": print},
        {"HTTP_SCRIPT_NAME": "/api"},
        {"SCRIPT_NAME": "/api"},
    ],
)
def test_any_other_server_is_accepted(gate, environ):
    assert gate.signed("GET", "/p", **environ)[0] == 200


def test_gunicorn_is_accepted_by_its_own_callable(gate, party):
    gate.app(environ_of(party), Response(None).start_response)
    assert gate.decisions[0].outcome == "verified"


@pytest.mark.parametrize("mounted", ["/api", "/api/sub"])
@pytest.mark.parametrize("field", ["/api", "/a,/api", "/other", ""])
def test_script_name_is_rejected_when_a_header_field_may_have_set_it(gate, mounted, field):
    assert (
        gate.signed("GET", f"{mounted}/p", SCRIPT_NAME=mounted, PATH_INFO="/p", HTTP_SCRIPT_NAME=field) == UNSUPPORTED
    )
    assert "gunicorn's environment" in gate.decisions[0].evidence().detail


@pytest.mark.parametrize(
    ("server", "fix"),
    [
        ("gevent/20.0 Python/3.11", "undersigned_gevent.RawTargetHandler"),
        ("WSGIServer/0.2", "undersigned.wsgi.wsgiref.RawTargetHandler"),
        ("WSGIServer/0.2", "Django's runserver takes none: accept plain paths only with reconstruct=True"),
        ("", "reconstruct=True"),
    ],
)
def test_missing_target_is_reported_with_the_fix(gate, server, fix):
    assert gate.signed("GET", "/p", RAW_URI=None, SERVER_SOFTWARE=server) == UNSUPPORTED
    assert fix in gate.decisions[0].evidence().detail


def by_uwsgi(variables: dict[str, str]) -> bytes:
    """A request as a proxy sends it by the uwsgi protocol."""
    packed = b"".join(
        len(part).to_bytes(2, "little") + part for pair in variables.items() for part in map(str.encode, pair)
    )
    return b"\x00" + len(packed).to_bytes(2, "little") + b"\x00" + packed


def test_gunicorn_is_rejected_when_it_speaks_the_uwsgi_protocol(party):
    fields = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in party.fields("GET", f"{ORIGIN}/p")}
    request = {"REQUEST_METHOD": "GET", "PATH_INFO": "/p", "QUERY_STRING": "", "SERVER_PROTOCOL": "HTTP/1.1"}
    with gunicorn_server(OverWSGI(party).app, protocol="uwsgi") as port:
        response = exchange(port, by_uwsgi({**request, "HTTP_HOST": "seller.example.com", **fields}))
    assert response.startswith(b"HTTP/1.1 503")
    assert b"request_signature_server_unsupported" in response

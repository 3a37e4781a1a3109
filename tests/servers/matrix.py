"""The servers of the matrix: their commands, their requirements, and the details that they hide."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import apache

ROOT = Path(__file__).parents[2]
ASGI, WSGI = "tests.servers.probe:asgi_app", "tests.servers.probe:wsgi_app"

ABSOLUTE = "absolute-form is seen as origin-form; the signed Host is used"
FRAGMENT = "the fragment is removed"
SPACES = "extra spaces in the request line"
TRAILER = "whether a field was a trailer"
METHOD = "the case of the method"
STRIPPED = "the absolute part of :path and the fragment are removed"
SLASHES = "slashes at the start"
MERGED = "whether a field was sent with an underscore instead of a hyphen"
DROPPED = "a name with an underscore is dropped, so no application sees it"
DECHUNKED = "Content-Length is dropped if the content is chunked; the application gets the digested content"
LENGTHS = "equal lengths are joined, as RFC 9110 section 8.6 allows"
NO_FIELD = "a malformed field line is dropped, so no application sees it"
LAST = "the application sees the last of several"

TRAILER_OF_A_NEW_FIELD = "a trailer that forges a new field"
ABSOLUTE_CASES = dict.fromkeys(
    ("absolute-form, own host", "absolute-form, http", "absolute-form, other host", "absolute-form, userinfo"), ABSOLUTE
)
FRAGMENT_CASES = dict.fromkeys(("fragment", "fragment after the query"), FRAGMENT)
SPACES_CASES = {"two spaces in the request line": SPACES}
OTHER_LABEL = ("Signature_Input with Signature-Input", "Signature_Input before Signature-Input")
SAME_LABEL = (
    "Signature_Input of the same label with Signature-Input",
    "Signature_Input of the same label before Signature-Input",
)
DROPPED_CASES = dict.fromkeys((*OTHER_LABEL, *SAME_LABEL), DROPPED)
MERGED_CASES = {**dict.fromkeys(OTHER_LABEL, MERGED), "Content_Type for Content-Type": MERGED}
DECHUNKED_CASES = dict.fromkeys(
    ("Content-Length before Transfer-Encoding", "Transfer-Encoding before Content-Length"), DECHUNKED
)
LENGTHS_CASES = {"a list of lengths": LENGTHS}
"""The details that servers hide, by case. Each server hides exactly its cases: one more fails, and so does one less."""


@dataclass(frozen=True)
class Server:
    """A server in one configuration.

    Attributes:
        name: the name in tests.
        command: the command line: a program, or the arguments of this Python.
        needs: the importable module or the program that the server needs.
        install: the command that installs it.
        detected: the name by which the middleware recognises it.
        chunked: whether a chunked body can reach the application.
        http1: whether it is tested over HTTP/1.1.
        tls: whether it speaks HTTP/2 over TLS only.
        waits: whether it never ends content that a request does not have, so that the application must not read it.
        http2: the name in `http2_server=` if it is tested over HTTP/2.
        hides: the attacks that look like valid requests to the application, exactly, each with the reason.
        hides_http2: these attacks over HTTP/2.
        rejects: the valid cases that the server itself rejects, exactly, each with the reason.
    """

    name: str
    command: tuple[str, ...]
    needs: str = ""
    install: str = "pip install --group servers"
    detected: str | None = None
    chunked: bool = True
    http1: bool = True
    tls: bool = False
    waits: bool = False
    http2: str = ""
    hides: dict[str, str] = field(default_factory=dict)
    hides_http2: dict[str, str] = field(default_factory=dict)
    rejects: dict[str, str] = field(default_factory=dict)

    def missing(self) -> str:
        """Return the command that installs the server, or an empty text if it is installed."""
        there = not self.needs or importlib.util.find_spec(self.needs) or program(self.needs)
        if there and self.name == "mod_wsgi" and not apache.serves_this_python():
            return f"mod_wsgi is installed for another Python: {self.install}"
        return "" if there else f"{self.needs} is missing: {self.install}"

    def argv(self, port: int, directory: Path) -> list[str]:
        filled = [part.format(port=port, directory=directory) for part in self.command]
        first = program(filled[0])
        return [first, *filled[1:]] if first else [sys.executable, *filled]


def program(name: str) -> str | None:
    if name.startswith("-"):
        return None
    return shutil.which(name, path=f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin")


UVICORN = ("-m", "uvicorn", "--host", "127.0.0.1", "--port", "{port}", "--log-level", "critical")
GRANIAN = ("-m", "granian", "--host", "127.0.0.1", "--port", "{port}", "--log-level", "error", "--interface")
GUNICORN = (
    *("-m", "gunicorn", "-b", "127.0.0.1:{port}", "--no-control-socket", "-w", "1"),
    *("--log-level", "critical", "--limit-request-line", "8190"),
)
PLAIN, FAST = ("--http-parser", "python"), ("--http-parser", "fast")
H2C = ("--http-protocols", "h2,h1", "--http2-cleartext", "prior-knowledge")
SERVE = ("-m", "tests.servers.serve")
UWSGI = (
    *("uwsgi", "--http-socket", "127.0.0.1:{port}", "--pythonpath", str(ROOT), "--virtualenv", sys.prefix),
    *("--module", "tests.servers.probe", "--callable", "wsgi_app", "--need-app", "--disable-logging"),
    *("--enable-threads", "--threads", "2", "--buffer-size", "32768", "--die-on-term"),
)
PIP = "pip install --group servers"
APT = "apt-get install apache2 libapache2-mod-wsgi-py3"

SERVERS = [
    Server("uvicorn-h11", (*UVICORN, "--http", "h11", ASGI), needs="uvicorn", detected="uvicorn", hides=LENGTHS_CASES),
    Server(
        "uvicorn-httptools",
        (*UVICORN, "--http", "httptools", ASGI),
        needs="httptools",
        detected="uvicorn",
        hides={**ABSOLUTE_CASES, **FRAGMENT_CASES, **SPACES_CASES, TRAILER_OF_A_NEW_FIELD: TRAILER},
    ),
    Server(
        "uvicorn-h2",
        (*UVICORN, "--http", "zttp", "--http2", ASGI),
        needs="zttp",
        detected="uvicorn",
        http1=False,
        waits=True,
        http2="uvicorn",
    ),
    Server(
        "hypercorn",
        ("-m", "hypercorn", "-b", "127.0.0.1:{port}", ASGI),
        needs="hypercorn",
        detected="hypercorn",
        http2="hypercorn",
        hides={"lower-case method": METHOD, **LENGTHS_CASES},
    ),
    Server(
        "granian",
        (*GRANIAN, "asgi", ASGI),
        needs="granian",
        detected="granian",
        hides={**ABSOLUTE_CASES, "absolute-form, no path": ABSOLUTE, **FRAGMENT_CASES, **DECHUNKED_CASES},
    ),
    Server(
        "daphne",
        ("-m", "daphne", "-b", "127.0.0.1", "-p", "{port}", "-v", "0", ASGI),
        needs="daphne",
        detected="daphne",
        hides=DROPPED_CASES,
    ),
    Server(
        "daphne-h2",
        (
            *("-m", "daphne", "-v", "0", "-e"),
            "ssl:{port}:interface=127.0.0.1:privateKey={directory}/certificate.pem:certKey={directory}/certificate.pem",
            ASGI,
        ),
        needs="daphne",
        detected="daphne",
        http1=False,
        tls=True,
        http2="daphne",
        hides_http2={"Signature_Input with Signature-Input": DROPPED},
    ),
    Server(
        "gunicorn-asgi",
        (*GUNICORN, "-k", "asgi", *PLAIN, ASGI),
        needs="gunicorn",
        detected="gunicorn",
        hides=DROPPED_CASES,
    ),
    Server(
        "gunicorn-asgi-fast",
        (*GUNICORN, "-k", "asgi", *FAST, ASGI),
        needs="gunicorn_h1c",
        detected="gunicorn",
        hides={**DROPPED_CASES, **SPACES_CASES},
    ),
    Server(
        "gunicorn-asgi-h2",
        (*GUNICORN, "-k", "asgi", *PLAIN, *H2C, ASGI),
        needs="h2",
        detected="gunicorn",
        http1=False,
        http2="gunicorn",
        hides_http2={
            "absolute-form": STRIPPED,
            "absolute-form, own host": STRIPPED,
            "fragment": STRIPPED,
            "Signature_Input with Signature-Input": DROPPED,
        },
    ),
    Server("gunicorn-sync", (*GUNICORN, "-k", "sync", *PLAIN, WSGI), needs="gunicorn", hides=DROPPED_CASES),
    Server(
        "gunicorn-sync-fast",
        (*GUNICORN, "-k", "sync", *FAST, WSGI),
        needs="gunicorn_h1c",
        hides={**DROPPED_CASES, **SPACES_CASES},
    ),
    Server(
        "gunicorn-gthread",
        (*GUNICORN, "-k", "gthread", "--threads", "2", *PLAIN, WSGI),
        needs="gunicorn",
        hides=DROPPED_CASES,
    ),
    Server(
        "gunicorn-gthread-h2",
        (*GUNICORN, "-k", "gthread", *PLAIN, *H2C, WSGI),
        needs="h2",
        http1=False,
        http2="gunicorn",
        hides_http2={"Signature_Input with Signature-Input": DROPPED},
    ),
    Server(
        "waitress",
        ("-m", "waitress", "--listen=127.0.0.1:{port}", WSGI),
        needs="waitress",
        hides={**DROPPED_CASES, **DECHUNKED_CASES},
    ),
    Server("uwsgi", UWSGI, needs="uwsgi", chunked=False, hides=MERGED_CASES),
    Server(
        "mod_wsgi",
        ("apache2", "-f", "{directory}/apache.conf", "-DFOREGROUND"),
        needs="apache2",
        install=APT,
        hides={**DROPPED_CASES, **DECHUNKED_CASES},
    ),
    Server(
        "gevent",
        (*SERVE, "gevent", "{port}"),
        needs="gevent",
        detected="gevent",
        hides={**DROPPED_CASES, **DECHUNKED_CASES},
    ),
    Server("wsgiref", (*SERVE, "wsgiref", "{port}"), detected="wsgiref", chunked=False, hides=DROPPED_CASES),
    Server(
        "werkzeug",
        (*SERVE, "werkzeug", "{port}"),
        needs="werkzeug",
        detected="werkzeug",
        rejects={"slashes first": SLASHES},
        hides={
            **DROPPED_CASES,
            **SPACES_CASES,
            "a doubled slash": SLASHES,
            "two Content-Types, the first evil": LAST,
            **dict.fromkeys(
                ("an empty field name", "a field name with a space", "a carriage return in a field"), NO_FIELD
            ),
        },
    ),
    Server(
        "a2wsgi",
        (*UVICORN, "--http", "h11", "--factory", "tests.servers.probe:a2wsgi_app"),
        needs="a2wsgi",
        hides={**LENGTHS_CASES, "Content_Type for Content-Type": MERGED},
    ),
]

REJECTED = [
    Server("bjoern", (*SERVE, "bjoern", "{port}"), needs="bjoern", install=f"apt-get install libev-dev; {PIP}"),
    Server("cheroot", (*SERVE, "cheroot", "{port}"), needs="cheroot"),
    Server("granian-wsgi", (*GRANIAN, "wsgi", WSGI), needs="granian"),
    Server("hypercorn-wsgi", ("-m", "hypercorn", "-b", "127.0.0.1:{port}", f"wsgi:{WSGI}"), needs="hypercorn"),
]

UNCHECKED_HTTP2 = Server("granian-h2", (*GRANIAN, "asgi", ASGI), needs="granian", http2="hypercorn")

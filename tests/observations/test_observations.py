"""Over everything servers were once seen to show, a rebuilt request is the one that was sent, or it is refused."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pytest
from tests.observations.judge import Rebuilt, of_environ, of_scope

HERE = Path(__file__).parent
CASES = {name: json.loads((HERE / f"{name}.json").read_text("utf-8")) for name in ("http1", "http2")}
RECORDED = Path(
    os.environ.get("UNDERSIGNED_OBSERVATIONS", Path(__file__).parents[2].parent / "shared" / "observations.tar.xz")
)

# What is accepted and is not what was sent, to the letter (section 15.7 of the measurements). A lone `?` is not listed:
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
REFUSED = {"bjoern", "cheroot", "gevent-pywsgi", "granian-wsgi", "hypercorn-wsgi", "wsgiref"}


def decoded(value):
    """Undo the marks of the recording: `b:` stands before the Latin-1 text of bytes."""
    if isinstance(value, str):
        return value[2:].encode("latin-1") if value.startswith("b:") else value
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        return {key: decoded(item) for key, item in value.items()}
    return value


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


def judged(server: str, shown: dict) -> Rebuilt | None:
    if "scope" in shown:
        return of_scope(server, full_scope(shown["scope"]))
    return of_environ(server, full_environ(shown["environ"]))


def recorded():
    """Every observation: server, protocol, case, what was rebuilt, and what was sent."""
    with tarfile.open(RECORDED) as archive:
        for member in archive:
            if not (member.isfile() and "results/" in member.name and member.name.endswith(".json")):
                continue
            document = json.load(archive.extractfile(member))
            server = Path(member.name).stem
            judge = {"asgi": of_scope, "wsgi": of_environ}.get(document["_iface"])
            for protocol, name in (("h1", "http1"), ("h2", "http2")):
                for case, seen in document[protocol].items():
                    log = seen.get("log") or []
                    if judge and case in CASES[name] and log and log[0].get("phase") == "start":
                        yield server, name, case, judge(server, decoded(log[0]["scope"])), CASES[name][case]["wire"]


def differing(observations) -> set[tuple[str, str, str]]:
    return {
        (server, protocol, case)
        for server, protocol, case, rebuilt, sent in observations
        if rebuilt is not None and not rebuilt.equals(sent) and not rebuilt.lacks_only_a_question_mark(sent)
    }


def kept():
    for name, cases in CASES.items():
        for case, observed in cases.items():
            for shown in observed["shown"]:
                for server in shown["by"]:
                    yield server, name, case, judged(server, shown), observed["wire"]


def honest_refused(observations) -> set[str]:
    return {server for server, _, case, rebuilt, _ in observations if case in HONEST and rebuilt is None}


def test_of_the_kept_observations_only_what_cannot_be_known_differs_from_what_was_sent():
    observations = list(kept())
    there = {(server, protocol, case) for server, protocol, case, _, _ in observations}
    assert differing(observations) == EXPECTED & there
    assert len(there) > 1000


def test_of_the_kept_observations_no_honest_one_is_refused_but_on_a_server_that_shows_no_target():
    assert honest_refused(kept()) == REFUSED & {server for server, *_ in kept()}


@pytest.mark.skipif(not RECORDED.exists(), reason=f"{RECORDED} is not there: set UNDERSIGNED_OBSERVATIONS to its path")
def test_of_all_observations_only_what_cannot_be_known_differs_from_what_was_sent():
    observations = list(recorded())
    assert differing(observations) == EXPECTED
    assert honest_refused(observations) == REFUSED
    assert len(observations) > 3000

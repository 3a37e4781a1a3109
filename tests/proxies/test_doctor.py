"""The doctor's findings for real misconfigurations, and none for the documented configurations."""

from __future__ import annotations

import json

import pytest
from tests import keys
from tests.cli.command import invoke
from tests.proxies.fronts import BACKENDS
from tests.proxies.test_proxies import KEEPING

every_backend = pytest.mark.parametrize("backend", BACKENDS)

SLASHES = ("repeated slashes", "the slashes are merged", "/a//b", "/a/b")
REWRITTEN = [
    SLASHES,
    ("an encoded slash", "%2F is decoded", "/a%2Fb", "/a/b"),
    ("dots between encoded slashes", "%2F is decoded and the new dot segment is resolved", "/a%2F..%2Fb", "/b"),
    (
        "encoded reserved characters",
        "percent-encoding is changed: reserved characters are decoded",
        "/a%2Bb%3Ac%40d",
        "/a+b:c@d",
    ),
]
LONE_QUESTION_MARK = ("a question mark without a query", "the ? is lost", "/a?", "/a")


@pytest.fixture
def doctor(visit, tmp_path):
    """Return a function that examines a front and returns the exit code and the diagnosis."""
    key = tmp_path / "private.jwk.json"
    key.write_text(json.dumps(keys.PRIVATE))

    def examine(proxy: str, front: str, backend: str, *args: str, path: str = "") -> tuple[int, dict]:
        visited = visit(proxy, front, backend)
        trusted = ("--ca-file", str(visited.street.certificate))
        result = invoke(
            "doctor", "--profile", "adcp-3.2", "--key", str(key), *trusted, "--json", *args, visited.public + path
        )
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, json.loads(result.stdout)

    return examine


def findings_of(diagnosis: dict, prefix: str = "") -> list[tuple[str, str, str, str]]:
    """Return the findings about targets, with the targets cut to the text after the common segment."""
    start = f"{prefix}/undersigned-doctor"
    return [
        (one["check"], one["problem"], one["sent"].removeprefix(start), one["arrives"].removeprefix(start))
        for one in diagnosis["findings"]
    ]


@every_backend
@pytest.mark.parametrize(("proxy", "front", "prefix"), KEEPING)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_documented_configuration_has_no_findings(doctor, proxy, front, prefix, backend, method):
    code, diagnosis = doctor(proxy, front, backend, "--method", method, path=prefix)
    assert (code, diagnosis["unchanged"], diagnosis["findings"], diagnosis["notes"]) == (0, True, [], [])


@every_backend
@pytest.mark.parametrize(("front", "prefix"), [("uri-part", ""), ("rewrite", ""), ("stripped-by-uri-part", "/api")])
def test_rewritings_of_nginx_are_reported(doctor, front, prefix, backend):
    code, diagnosis = doctor("nginx", front, backend, path=prefix)
    # ASGI hides a question mark without a query, so its signature is valid there.
    lost = [LONE_QUESTION_MARK] if backend == "gunicorn" else []
    assert (code, findings_of(diagnosis, prefix)) == (1, [*REWRITTEN, *lost])
    assert all("`proxy_pass http://app;` without a path" in one["advice"] for one in diagnosis["findings"])


@every_backend
@pytest.mark.parametrize(
    ("front", "finding"),
    [
        ("merges-slashes", SLASHES),
        ("sorts-the-query", ("an unsorted query", "the query is sorted", "/a?b=2&a=1&b=1", "/a?a=1&b=2&b=1")),
    ],
)
def test_normalizations_of_haproxy_are_reported(doctor, front, finding, backend):
    code, diagnosis = doctor("haproxy", front, backend)
    assert (code, findings_of(diagnosis)) == (1, [finding])


PUT, POST = ("--method", "PUT"), ("--method", "POST")
HOST = ("Host arrives as another value", "proxy_set_header Host $http_host;")
SCHEME = ("the middleware sees requests to https as requests to http", "")
NOT_SIGNED = ("no Signature and Signature-Input headers arrived, and the server requires them", "")
OTHERS = [
    ("nginx", "proxy-host", "", (), [HOST]),
    ("nginx", "host", "", (), [HOST]),
    ("haproxy", "rewrites-host", "", (), [HOST]),
    ("nginx", "tls-for-an-http-origin", "", (), [SCHEME]),
    ("haproxy", "tls-for-an-http-origin", "", (), [SCHEME]),
    ("nginx", "no-signature", "", (), [NOT_SIGNED]),
    ("nginx", "no-body", "", PUT, [("it is dropped", "")] * 2),
    ("nginx", "no-body", "", (), []),
    ("haproxy", "adds-to-content-type", "", POST, [("Content-Type or Content-Digest is rewritten", "")] * 2),
    ("haproxy", "prefix-nobody-strips", "/api", (), [("the middleware adds /api to a path that already has it", "")]),
    ("nginx", "answers-itself", "", (), [("answer is 403", "")]),
    ("nginx", "redirects", "", (), [("redirected (301)", "")]),
]
"""What is found, and with which advice."""


@every_backend
@pytest.mark.parametrize(("proxy", "front", "path", "options", "findings"), OTHERS)
def test_other_misconfiguration_is_reported_with_its_advice(doctor, proxy, front, path, options, findings, backend):
    code, diagnosis = doctor(proxy, front, backend, *options, path=path)
    found = diagnosis["findings"]
    assert (code, len(found)) == (int(bool(findings)), len(findings)), found
    for one, (problem, advice) in zip(found, findings, strict=True):
        assert problem in one["problem"]
        assert advice in one["advice"]


@every_backend
def test_unconfigured_stripped_prefix_is_reported_next_to_the_rewritings(doctor, backend):
    _, diagnosis = doctor("nginx", "prefix-nobody-said", backend, path="/api")
    prefix, *others = diagnosis["findings"]
    assert "the prefix /api is stripped" in prefix["problem"]
    assert prefix["advice"] == f'add the prefix: origins=["{diagnosis["url"]}"]'
    assert len(others) >= len(REWRITTEN)


def test_examination_ends_when_the_certificate_is_not_trusted(visit, tmp_path):
    visited = visit("nginx", "tls", "uvicorn")
    key = tmp_path / "private.jwk.json"
    key.write_text(json.dumps(keys.PRIVATE))
    result = invoke("doctor", "--profile", "adcp-3.2", "--key", str(key), visited.public)
    assert result.exit_code == 1
    assert "the certificate is not trusted: self-signed certificate" in result.stderr

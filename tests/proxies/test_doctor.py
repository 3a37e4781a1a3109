"""What the doctor says of real misconfigurations, and that it has nothing to say of the documented configurations."""

from __future__ import annotations

import json

import pytest
from tests import keys
from tests.cli.command import invoke
from tests.proxies.fronts import BACKENDS
from tests.proxies.test_proxies import KEEPING

every_backend = pytest.mark.parametrize("backend", BACKENDS)

SLASHES = ("slashes beside each other", "the slashes are merged", "/a//b", "/a/b")
REWRITTEN = [
    SLASHES,
    ("an encoded slash", "%2F is decoded", "/a%2Fb", "/a/b"),
    (
        "dots between encoded slashes",
        "%2F is decoded, and the dot segment this makes is resolved",
        "/a%2F..%2Fb",
        "/b",
    ),
    (
        "encoded reserved characters",
        "percent-encoding is changed: reserved characters are decoded",
        "/a%2Bb%3Ac%40d",
        "/a+b:c@d",
    ),
]
LONE_QUESTION_MARK = ("a lone question mark", "the ? is lost", "/a?", "/a")


@pytest.fixture
def doctor(visit, tmp_path):
    """Examines a front; returns the exit code and the diagnosis."""
    key = tmp_path / "private.jwk.json"
    key.write_text(json.dumps(keys.PRIVATE))

    def examined(proxy: str, front: str, backend: str, *args: str, path: str = "") -> tuple[int, dict]:
        visited = visit(proxy, front, backend)
        trusted = ("--ca-file", str(visited.street.certificate))
        result = invoke("doctor", "--key", str(key), *trusted, "--json", *args, visited.public + path)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, json.loads(result.stdout)

    return examined


def shown(diagnosis: dict, prefix: str = "") -> list[tuple[str, str, str, str]]:
    """The findings about targets, with what stands behind the segment that all targets have."""
    start = f"{prefix}/undersigned-doctor"
    return [
        (one["check"], one["problem"], one["sent"].removeprefix(start), one["arrives"].removeprefix(start))
        for one in diagnosis["findings"]
    ]


@every_backend
@pytest.mark.parametrize(("proxy", "front", "prefix"), KEEPING)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_is_changed_behind_a_documented_configuration(doctor, proxy, front, prefix, backend, method):
    code, diagnosis = doctor(proxy, front, backend, "--method", method, path=prefix)
    assert (code, diagnosis["unchanged"], diagnosis["findings"], diagnosis["notes"]) == (0, True, [], [])


@every_backend
@pytest.mark.parametrize(("front", "prefix"), [("uri-part", ""), ("rewrite", ""), ("stripped-by-uri-part", "/api")])
def test_what_nginx_rewrites_is_named_by_what_it_does(doctor, front, prefix, backend):
    code, diagnosis = doctor("nginx", front, backend, path=prefix)
    # ASGI hides a lone question mark, and so the signature of one holds there.
    lost = [LONE_QUESTION_MARK] if backend == "gunicorn" else []
    assert (code, shown(diagnosis, prefix)) == (1, [*REWRITTEN, *lost])
    assert all(
        "`proxy_pass http://app;` with nothing behind the name" in one["advice"] for one in diagnosis["findings"]
    )


@every_backend
def test_a_prefix_that_is_stripped_and_not_part_of_the_origin_is_named_beside_what_nginx_rewrites(doctor, backend):
    _, diagnosis = doctor("nginx", "prefix-nobody-said", backend, path="/api")
    prefix, *others = diagnosis["findings"]
    assert "the prefix /api is stripped" in prefix["problem"]
    assert prefix["advice"] == f'name it in the origin: origins=["{diagnosis["url"]}"]'
    assert len(others) >= len(REWRITTEN)


@every_backend
def test_a_prefix_in_the_origin_that_nothing_strips_is_named(doctor, backend):
    _, diagnosis = doctor("haproxy", "prefix-nobody-strips", backend, path="/api")
    assert [one["problem"] for one in diagnosis["findings"]] == [
        "the middleware puts /api before a path that has it already"
    ]


@every_backend
@pytest.mark.parametrize(
    ("front", "finding"),
    [
        ("merges-slashes", SLASHES),
        (
            "sorts-the-query",
            ("a query out of order", "the query is sorted", "/a?b=2&a=1&b=1", "/a?a=1&b=2&b=1"),
        ),
    ],
)
def test_what_haproxy_normalizes_is_named(doctor, front, finding, backend):
    code, diagnosis = doctor("haproxy", front, backend)
    assert (code, shown(diagnosis)) == (1, [finding])


@every_backend
@pytest.mark.parametrize(("proxy", "front"), [("nginx", "proxy-host"), ("nginx", "host"), ("haproxy", "rewrites-host")])
def test_a_rewritten_host_is_named(doctor, proxy, front, backend):
    code, diagnosis = doctor(proxy, front, backend)
    [finding] = diagnosis["findings"]
    assert (code, finding["check"]) == (1, "Host")
    assert "being rewritten on the way" in finding["problem"]
    assert "proxy_set_header Host $http_host;" in finding["advice"]


@every_backend
@pytest.mark.parametrize("proxy", ["nginx", "haproxy"])
def test_an_origin_of_the_wrong_scheme_is_named(doctor, proxy, backend):
    code, diagnosis = doctor(proxy, "tls-for-an-http-origin", backend)
    [finding] = diagnosis["findings"]
    assert (code, finding["problem"]) == (1, "the middleware takes requests to https for requests to http")


@every_backend
def test_signature_fields_that_do_not_arrive_are_named(doctor, backend):
    _, diagnosis = doctor("nginx", "no-signature", backend)
    assert [one["problem"] for one in diagnosis["findings"]] == [
        "the Signature and Signature-Input fields do not arrive"
    ]


@every_backend
def test_content_that_does_not_arrive_is_named(doctor, backend):
    code, diagnosis = doctor("nginx", "no-body", backend, "--method", "PUT")
    assert (code, [one["problem"] for one in diagnosis["findings"]]) == (1, ["it is dropped", "it is dropped"])
    assert doctor("nginx", "no-body", backend)[0] == 0


@every_backend
def test_a_content_type_that_is_rewritten_is_named(doctor, backend):
    _, diagnosis = doctor("haproxy", "adds-to-content-type", backend, "--method", "POST")
    assert {one["problem"] for one in diagnosis["findings"]} == {"Content-Type or Content-Digest is rewritten"}


@pytest.mark.parametrize(("front", "words"), [("answers-itself", "answered 403"), ("redirects", "redirected (301)")])
def test_an_answer_of_the_proxy_itself_is_not_taken_for_the_applications(doctor, front, words):
    code, diagnosis = doctor("nginx", front, "uvicorn")
    assert code == 1
    assert words in diagnosis["findings"][0]["problem"]


def test_a_certificate_nobody_vouches_for_ends_it(visit, tmp_path):
    visited = visit("nginx", "tls", "uvicorn")
    key = tmp_path / "private.jwk.json"
    key.write_text(json.dumps(keys.PRIVATE))
    result = invoke("doctor", "--key", str(key), visited.public)
    assert result.exit_code == 1
    assert "the certificate is not trusted: self-signed certificate" in result.stderr

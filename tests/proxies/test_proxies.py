"""Real proxies: configurations that keep signatures valid, and the log lines for those that do not."""

from __future__ import annotations

import pytest
from tests.proxies.fronts import BACKENDS

from undersigned import canonicalize

JSON = [("Content-Type", "application/json")]
BODY = b'{"plan_id": "plan_001", "caf\xc3\xa9": 1}\n'

KEEPING = [
    ("nginx", "kept", ""),
    ("nginx", "kept-unmerged", ""),
    ("nginx", "stripped", "/api"),
    ("nginx", "tls", ""),
    ("haproxy", "kept", ""),
    ("haproxy", "stripped", "/api"),
    ("haproxy", "tls", ""),
    ("envoy", "kept", ""),
    ("envoy", "stripped", "/api"),
    ("traefik", "kept", ""),
]
HONEST = [
    "/a%2Fb//c/./d/%7Eu?b=2&a=1",
    "/p?",
    "/p??x",
    "/caf%C3%A9",
    "/caf%c3%a9/%41",
    "//evil.example/p?x=1",
    "/p?x=a+b%20c",
    "/a+b%2Bc:d@e!(f)*'g;h,i=j&k$",
    f"/long/{'a' * 2000}",
]

transparent = pytest.mark.parametrize(("proxy", "front", "prefix"), [one for one in KEEPING if one[0] != "traefik"])
keeping = pytest.mark.parametrize(("proxy", "front", "prefix"), KEEPING)
every_backend = pytest.mark.parametrize("backend", BACKENDS)


@every_backend
@keeping
@pytest.mark.parametrize("target", HONEST)
def test_documented_configuration_keeps_every_valid_spelling(visit, proxy, front, prefix, backend, target):
    visited = visit(proxy, front, backend)
    status, said = visited.get(prefix + target)
    assert (status, said["target_uri"]) == (200, canonicalize(visited.public + prefix + target).target_uri)


@every_backend
@transparent
def test_most_proxies_keep_what_rfc_3986_does_not_allow(visit, proxy, front, prefix, backend):
    visited = visit(proxy, front, backend)
    target = f"{prefix}/a[1]|b^c?a[]=1|2^3`4{{5}}"
    assert visited.get(target)[1]["target_uri"] == visited.public + target


@every_backend
@keeping
def test_documented_configuration_keeps_a_body(visit, proxy, front, prefix, backend):
    visited = visit(proxy, front, backend)
    chunked = f"{len(BODY):x}\r\n".encode() + BODY + b"\r\n0\r\n\r\n"
    for framing, content in (("Content-Length", BODY), ("Transfer-Encoding", chunked)):
        value = str(len(BODY)) if framing == "Content-Length" else "chunked"
        fields = visited.signed("POST", f"{prefix}/p", JSON, BODY)
        status, said = visited.send("POST", f"{prefix}/p", [*fields, (framing, value)], content)
        assert (status, said["body"]) == (200, BODY.decode("latin-1"))


@every_backend
@keeping
def test_documented_configuration_rejects_a_signature_for_another_target(visit, proxy, front, prefix, backend):
    visited = visit(proxy, front, backend)
    for sent, signed in (("/a%2Fb", "/a/b"), ("/a//b", "/a/b"), ("/p?x=1", "/p"), ("/p", "/q")):
        status, said = visited.send("GET", prefix + sent, visited.signed("GET", prefix + signed))
        assert (status, said) == (401, {"error": "request_signature_invalid"})


INVALID, MALFORMED = "request_signature_invalid", "request_target_uri_malformed"
SCHEME = ['"@target-uri": http://{host}/p\n', "correct origins="]


def rewritten(target: str) -> list[str]:
    return [f'"@target-uri": {{public}}{target}\n', "a proxy rewrites it"]


def another_host(host: str) -> list[str]:
    return [
        "the authority is not one of the configured origins",
        "a proxy must forward Host and the request target unchanged",
        f"received: Host {host}, request target /p?(withheld)\n",
    ]


REJECTED = [
    ("nginx", "uri-part", "/a%2Fb//c/./d/%7Eu?b=2&a=1", INVALID, rewritten("/a/b/c/d/~u?b=2&a=1")),
    ("nginx", "uri-part", "/a//b", INVALID, rewritten("/a/b")),
    ("nginx", "uri-part", "/a+b%2Bc", INVALID, rewritten("/a+b+c")),
    ("nginx", "rewrite", "/a%2Fb//c", INVALID, rewritten("/a/b/c")),
    ("nginx", "rewrite", "/a%3Ab", INVALID, rewritten("/a:b")),
    ("nginx", "stripped-by-uri-part", "/api/a%2Fb", INVALID, rewritten("/api/a/b")),
    ("nginx", "prefix-nobody-said", "/api/a", INVALID, rewritten("/a")),
    # The prefix in another spelling is not stripped.
    ("nginx", "stripped", "/%61pi/p", INVALID, []),
    ("haproxy", "merges-slashes", "/a//b", INVALID, rewritten("/a/b")),
    ("haproxy", "sorts-the-query", "/p?b=2&a=1", INVALID, rewritten("/p?a=1&b=2")),
    ("haproxy", "prefix-nobody-strips", "/api/a", INVALID, rewritten("/api/api/a")),
    ("envoy", "merges-slashes", "/a//b", INVALID, rewritten("/a/b")),
    ("envoy", "decodes-slashes", "/a%2Fb", INVALID, rewritten("/a/b")),
    ("traefik", "by-default", "/a//b", INVALID, rewritten("/a/b")),
    ("traefik", "kept", "/a|b", INVALID, rewritten("/a%7Cb")),
    ("nginx", "proxy-host", "/p?x=1", MALFORMED, another_host("{backend}")),
    ("nginx", "host", "/p?x=1", MALFORMED, another_host("localhost")),
    ("haproxy", "rewrites-host", "/p?x=1", MALFORMED, another_host("app.internal")),
    ("envoy", "rewrites-host", "/p?x=1", MALFORMED, another_host("app.internal")),
    ("nginx", "tls-for-an-http-origin", "/p", INVALID, SCHEME),
    ("haproxy", "tls-for-an-http-origin", "/p", INVALID, SCHEME),
    ("nginx", "no-signature", "/p", "request_signature_required", ["the request is not signed"]),
]
"""The configuration, the target that is sent, and how it is rejected with which words in the log."""


@every_backend
@pytest.mark.parametrize(("proxy", "front", "target", "code", "words"), REJECTED)
def test_what_a_proxy_rewrites_is_rejected_and_logged(visit, proxy, front, backend, target, code, words):
    visited = visit(proxy, front, backend)
    with visited.logged() as log:
        assert visited.get(target) == (401, {"error": code})
    for text in words:
        assert text.format(public=visited.public, host=visited.served.host, backend=backend) in log[0]


@every_backend
@pytest.mark.parametrize(
    ("proxy", "front"),
    [("nginx", "uri-part"), ("nginx", "rewrite"), ("nginx", "stripped-by-uri-part"), ("haproxy", "merges-slashes")],
)
def test_rewriting_proxy_keeps_targets_that_it_does_not_rewrite(visit, proxy, front, backend):
    visited = visit(proxy, front, backend)
    assert visited.get("/api/plain/path?b=2&a=1")[0] == 200


@pytest.mark.parametrize("front", ["uri-part", "rewrite"])
def test_lost_question_mark_is_rejected_when_the_server_would_show_it(visit, front):
    visited = visit("nginx", front, "gunicorn")
    with visited.logged() as log:
        assert visited.get("/p?") == (401, {"error": "request_signature_invalid"})
    assert f'"@target-uri": {visited.public}/p\n' in log[0]
    assert visit("nginx", front, "uvicorn").get("/p?")[0] == 200


@every_backend
@pytest.mark.parametrize("proxy", ["nginx", "haproxy"])
def test_forwarding_fields_do_not_repair_a_wrong_configuration(visit, proxy, backend):
    visited = visit(proxy, "tls-for-an-http-origin", backend)
    fields = [*visited.signed("GET", "/p"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", visited.served.host)]
    assert visited.send("GET", "/p", fields)[0] == 401


@every_backend
@pytest.mark.parametrize(("proxy", "front"), [("nginx", "no-body"), ("haproxy", "adds-to-content-type")])
def test_changed_body_or_content_type_is_rejected(visit, proxy, front, backend):
    visited = visit(proxy, front, backend)
    fields = [*visited.signed("POST", "/p", JSON, BODY), ("Content-Length", str(len(BODY)))]
    with visited.logged() as log:
        assert visited.send("POST", "/p", fields, BODY)[0] == 401
    assert "does not match the signed Content-Digest" in log[0] or '"content-type": application/json; v=1\n' in log[0]

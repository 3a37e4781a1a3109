"""Every client hook verifies responses before the caller gets them, and follows none that is not verified."""

from __future__ import annotations

from copy import deepcopy

import aiohttp
import httpx
import httpx2
import pytest
import requests
from tests.integrations.answering import (
    BARE,
    ENCODED,
    JSON,
    PROFILE,
    TAMPERED,
    UNCOVERED,
    answering,
    verification,
    verifier,
)
from tests.integrations.capture import capturing
from tests.integrations.clients import TRUST
from tests.integrations.every_client import CLIENTS, EVERY
from tests.keys import JSON_FIELD, OneKey, verification_key
from tests.seller import make_signer

from undersigned import AsyncVerifier, ConfigurationError, MemoryReplayStore, SignatureError, Verifier
from undersigned.client import ResponseVerification
from undersigned.discovery import KeySources
from undersigned.profiles import ADCP_3_2, FAPI_2_RESPONSE, UCP_RESPONSE, WEB_BOT_AUTH_DIRECTORY, WIMSE_RESPONSE
from undersigned_httpx import SignatureTransport
from undersigned_requests import SignatureAdapter


@EVERY
def test_verified_response_is_returned_whole(client):
    with answering() as server:
        for path in ("/ok", "/chunked", "/cookie"):
            assert client.send(server, path, responses=verification()) == (200, JSON)
            assert client.signature.components
        assert client.send(server, "/ok", method="POST", responses=verification()) == (200, JSON)
        assert client.send(server, "/ok", method="HEAD", responses=verification()) == (200, "")
        assert client.send(server, "/error", responses=verification()) == (401, JSON)


@EVERY
@pytest.mark.parametrize("path", TAMPERED)
def test_response_that_was_changed_or_is_not_signed_for_this_request_is_rejected(client, path):
    with answering() as server:
        if path == "again":
            assert client.send(server, f"/{path}", responses=verification()) == (200, JSON)
        with pytest.raises(SignatureError):
            client.send(server, f"/{path}", responses=verification())


@EVERY
def test_content_that_is_too_long_or_not_covered_is_rejected(client):
    with answering() as server, pytest.raises(SignatureError) as caught:
        client.send(server, "/long", responses=verification(max_body=50_000))
    assert "longer than max_body (50000 bytes)" in caught.value.detail
    with answering(UNCOVERED) as server, pytest.raises(SignatureError) as caught:
        client.send(server, "/ok", responses=verification(UNCOVERED))
    assert "does not cover content-digest" in caught.value.detail


@EVERY
def test_redirect_is_followed_only_if_it_is_verified(client):
    with answering() as server:
        assert client.send(server, "/redirect", responses=verification()) == (200, JSON)
        server.asked.clear()
        with pytest.raises(SignatureError):
            client.send(server, "/moved", responses=verification())
    assert server.asked == ["/moved"]


@pytest.mark.parametrize(
    "client", [client for client in CLIENTS if "async" in str(client) or "aio" in str(client)], ids=str
)
def test_async_client_awaits_the_verifier(client):
    with answering() as server:
        assert client.send(server, "/ok", responses=verification(kind=AsyncVerifier)) == (200, JSON)


@EVERY
def test_response_by_another_signer_than_the_origins_is_rejected(client):
    with answering() as server:
        for signers in ({server.origin: "payments"}, {}, lambda _origin: ""):
            with pytest.raises(SignatureError) as caught:
                client.send(server, "/ok", responses=verification(signers=signers))
            assert (
                "the key does not belong to the signer that signers= names for http://127.0.0.1" in caught.value.detail
            )
        keys = KeySources({"payments": OneKey(verification_key("ed25519"))})
        known = ResponseVerification(
            Verifier(PROFILE, keys=keys, replay=MemoryReplayStore()), signers={server.origin: "payments"}
        )
        assert client.send(server, "/ok", responses=known) == (200, JSON)


@EVERY
def test_content_encoding_that_the_signature_covers_is_decoded(client):
    if "aiohttp" not in str(client):  # it decodes the content itself, and so the digest is another one
        with answering(ENCODED) as server:
            assert client.send(server, "/compressed", responses=verification(ENCODED)) == (200, JSON)


TO_OK = [("Location", "/ok")]
RELAYED = {
    "location": ((302, TO_OK, ""), [("Location", "/error")]),
    "location (added)": ((302, [], ""), TO_OK),
    "uri": ((302, [], ""), [("URI", "/ok")]),
    "content-type": ((200, [JSON_FIELD]), [("Content-Type", "application/json; charset=utf-7")]),
    "content-type (added)": ((200, []), [("Content-Type", "text/plain; charset=utf-16")]),
    "content-encoding": ((200, []), [("Content-Encoding", "deflate")]),
    **{
        f"{name} ({status}{how})": ((status, given), [(name, value)])
        for name, value in {
            "Set-Cookie": "c=3; Path=/",
            "WWW-Authenticate": 'Digest realm="a", nonce="b", qop="auth"',
            "Proxy-Authenticate": "Basic",
            "Link": '</next>; rel="next"',
            "Refresh": "0; url=/error",
            "Retry-After": "0",
            "Content-Location": "/error",
            "Content-Disposition": "attachment; filename=.profile",
            "Content-Range": "bytes 5-20/21",
            "Location": "/error",
            "Accept-Signature": 'sig1=();nonce="chosen"',
        }.items()
        for status in (401 if "Authenticate" in name else 200,)
        for how, given in {"": [JSON_FIELD, (name, "honest")], ", added": [JSON_FIELD]}.items()
    },
}
ACTED_ON = {name.partition(" ")[0] for name, (_, relayed) in RELAYED.items() if relayed[0][0] == name.partition(" ")[0]}


@EVERY
@pytest.mark.parametrize(
    "profile", [PROFILE, BARE, FAPI_2_RESPONSE, UCP_RESPONSE, WIMSE_RESPONSE], ids=lambda profile: profile.name
)
@pytest.mark.parametrize("relayed", RELAYED)
def test_client_acts_on_no_field_that_a_relay_changed(client, profile, relayed):
    """Change each field that a client acts on: the response is rejected with its name, or it has no effect."""
    with answering(profile) as server:
        server.honest, server.relayed = deepcopy(RELAYED[relayed])
        if server.honest[1:] == ([],) and profile in (PROFILE, UCP_RESPONSE):
            return  # their signatures need a Content-Type
        if profile is WIMSE_RESPONSE and len(server.honest) > 1:
            server.honest[1].append(("Workload-Identity-Token", "a.b.c"))
        if profile is BARE and server.honest[1:2]:
            # Its signatures cover none, so content with one is rejected.
            server.honest[1][:] = [one for one in server.honest[1] if one != JSON_FIELD]
        try:
            got = client.send(server, "/relayed", responses=verification(profile))
        except aiohttp.ClientPayloadError:
            assert relayed == "content-encoding"  # aiohttp decodes before anybody can look
        except SignatureError as error:
            field = relayed.partition(" ")[0]
            is_named = f"by {field}, which the signature of the response does not cover" in error.detail
            assert is_named or profile is not BARE
        else:
            name = relayed.partition(" ")[0]
            assert (name, got[1]) in {("uri", ""), *((one, JSON) for one in ACTED_ON)}
            assert (name in client.headers, client.cookies) == (False, {})
        assert server.asked == ["/relayed"]


CACHED = {
    "Cache-Control": "max-age=60",
    "Date": "Fri, 27 Nov 2026 12:00:00 GMT",
    "ETag": '"a"',
    "Expires": "Fri, 27 Nov 2026 12:01:00 GMT",
    "Last-Modified": "Fri, 27 Nov 2026 11:00:00 GMT",
    "Vary": "Accept",
}


@EVERY
@pytest.mark.parametrize("uncovered", [*CACHED, ""])
def test_cache_is_told_to_keep_only_a_response_whose_signature_covers_all_that_it_decides_by(client, uncovered):
    covered = [name.lower() for name in CACHED if name != uncovered]
    profile = BARE.derive(name="answers-cached", coverage=PROFILE.coverage._replace(offered=tuple(covered)))
    with answering(profile) as server:
        server.honest = (200, [JSON_FIELD, *CACHED.items()])
        assert client.send(server, "/relayed", responses=verification(profile)) == (200, JSON)
    said = {name: client.headers.get(name) for name in CACHED}
    assert said == (CACHED | {"Cache-Control": "no-store"} if uncovered else CACHED)


SPELLED = {
    "spaces at the end": ("gold", ["gold  "]),
    "a tab at each end": ("gold", ["\tgold\t"]),
    "two lines": ("a, b", ["a", "b \t"]),
    "two lines of a string": ('"a, b"', ['"a', 'b"']),
    "an empty line first": (", a", ["", "a"]),
    "an empty line last": ("a", ["a", ""]),
    "a folded line": ("a b", ["a\r\n  b"]),
    "another value": ("a", ["a", "b"]),
    "a vertical tab": ("a", ["a\v"]),
    "a no-break space": ("a", ["a\xa0"]),
}


@EVERY
@pytest.mark.parametrize("name", SPELLED)
def test_covered_field_of_a_response_is_seen_as_it_was_signed_or_the_response_is_rejected(client, name):
    value, lines = SPELLED[name]
    with answering() as server:
        server.honest = (200, [JSON_FIELD, ("X-Plan", value)])
        server.relayed = [("X-Plan", lines[0]), *(("x-plan", line) for line in lines[1:]), ("X-Note", "n\t")]
        try:
            client.send(server, "/relayed", responses=verification())
        except (SignatureError, httpx.RemoteProtocolError, httpx2.RemoteProtocolError):
            assert name.startswith(("a ", "an", "another"))
            return
    headers = client.headers
    each = getattr(headers, "getall", getattr(headers, "get_list", lambda name: [headers[name]]))
    assert (headers["X-Plan"], each("X-Plan")) == (value, [value])


@EVERY
def test_cookies_that_are_covered_line_by_line_are_kept_when_another_field_is_left_out(client):
    coverage = BARE.coverage._replace(always=(*BARE.coverage.always, '"set-cookie";bs'))
    profile = BARE.derive(name="answers-cookies", coverage=coverage)
    with answering(profile) as server:
        server.honest = (200, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/")])
        server.relayed = [("Link", "</a>")]
        assert client.send(server, "/relayed", responses=verification(profile)) == (200, JSON)
    assert client.cookies == {"a": "1", "b": "2"}
    assert "Link" not in client.headers


@EVERY
def test_status_that_no_response_has_is_rejected(client):
    known = (SignatureError, httpx.RemoteProtocolError, httpx2.RemoteProtocolError, requests.ConnectionError)
    with capturing(answer=b"HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n") as capture, pytest.raises(known):
        client.send(capture, "/p", responses=verification())


@EVERY
def test_response_that_is_verified_is_asked_for_without_compression(client):
    with capturing() as capture, pytest.raises(SignatureError):
        client.send(capture, "/p", responses=verification(), fields={"Accept-Encoding": "gzip"})
    assert capture.only.lines("accept-encoding") == ["identity"]


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: SignatureTransport(httpx.HTTPTransport(verify=TRUST), make_signer(), **options),
        lambda **options: SignatureAdapter(make_signer(), **options),
    ],
)
def test_sync_client_takes_no_verifier_that_must_be_awaited(make):
    with pytest.raises(ConfigurationError, match=r"^responses: this client does not await"):
        make(origins=["https://a.example"], responses=verification(kind=AsyncVerifier))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "pass a Verifier"),
        (verifier(ADCP_3_2), "pass a Verifier"),
        (verifier(WEB_BOT_AUTH_DIRECTORY), "does not cover @status"),
    ],
)
def test_verifier_that_is_not_for_responses_or_their_status_is_a_configuration_error(given, named):
    with pytest.raises(ConfigurationError, match=f"^verifier: .*{named}"):
        ResponseVerification(given, signers=None)

"""Every client hook does what Accept-Signature asks for: once, and within what its signer is configured for."""

from __future__ import annotations

import io

import pytest
from tests.integrations.answering import answering, verification
from tests.integrations.asking import FIELDS, PATH, asking
from tests.integrations.capture import capturing
from tests.integrations.every_client import CLIENTS, EVERY
from tests.integrations.seller import KEYID, make_signer, make_verifier

from undersigned import SignatureError
from undersigned.message.signature_input import parse_signature_input


def list_covered(request) -> list[str]:
    [member] = parse_signature_input(request.fields.combined["signature-input"]).values()
    return [component.text for component in member.components]


@EVERY
@pytest.mark.parametrize(("method", "body"), [("GET", None), ("POST", b'{"plan":"gold"}')])
def test_request_is_signed_again_with_what_its_receiver_asks_for(client, method, body):
    signer = make_signer(may_cover=["x-plan"])
    with asking() as server:
        got = client.send(server, PATH, method=method, signer=signer, body=body, fields=FIELDS)
        assert got == (200, "verified")
    first, second = server.requests
    assert first.body == second.body == (body or b"")
    assert set(list_covered(second)) - set(list_covered(first)) == {'"@path"', '"@query-param";name="a"', '"x-plan"'}
    assert set(list_covered(first)) < set(list_covered(second))


@EVERY
@pytest.mark.parametrize("may_cover", [None, (), ("x-other",)])
def test_request_is_not_signed_again_with_a_field_that_its_signer_may_not_cover(client, may_cover):
    with asking() as server:
        status, text = client.send(server, PATH, signer=make_signer(may_cover=may_cover), fields=FIELDS)
    assert (status, text) == (401, '{"error": "request_signature_components_incomplete"}')
    assert len(server.requests) == 1


@EVERY
@pytest.mark.parametrize("status", [400, 401, 403])
def test_request_is_signed_again_only_once(client, status):
    with asking('new=("@path");nonce="KXYnfEfJ0PBRZXQyVXfVQA"', status) as server:
        assert client.send(server, PATH, fields=FIELDS) == (status, "no")
        assert client.send(server, PATH, fields=FIELDS) == (status, "no")
    assert ['"@path"' in list_covered(request) for request in server.requests] == [False, True] * 2
    assert server.requests[1].fields.combined["signature-input"].startswith("new=(")


@EVERY
def test_redirect_after_a_second_try_has_a_nonce_of_its_own(client):
    closing = b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    asks = b'HTTP/1.1 401 No\r\nAccept-Signature: new=("@path");nonce="KXYnfEfJ0PBRZXQyVXfVQA"\r\n' + closing
    moved = b"HTTP/1.1 307 Moved\r\nLocation: /next\r\n" + closing
    with capturing(first=[asks, moved]) as capture:
        capture.origin = f"http://127.0.0.1:{capture.port}"
        assert client.send(capture, PATH, fields=FIELDS) == (200, "")
    assert ["KXYnfEfJ0PBRZXQyVXfVQA" in sent.lines("signature-input")[0] for sent in capture.sent] == [
        False,
        True,
        False,
    ]
    verifier = make_verifier()
    assert [verifier.verify(sent.request()).keyid for sent in (capture.sent[0], capture.sent[2])] == [KEYID] * 2


@EVERY
def test_request_is_not_signed_again_after_another_status(client):
    with asking('sig1=("@path")', 429) as server:
        assert client.send(server, PATH, fields=FIELDS) == (429, "no")
    assert len(server.requests) == 1


@EVERY
def test_unverified_response_is_not_obeyed(client):
    with asking() as server, pytest.raises(SignatureError):
        client.send(server, PATH, signer=make_signer(may_cover=["x-plan"]), fields=FIELDS, responses=verification())
    assert len(server.requests) == 1


@EVERY
def test_verified_response_is_obeyed_and_the_second_one_verified_too(client):
    with answering() as server:
        assert client.send(server, "/asks", responses=verification()) == (200, '{"plan":"gold"}')
    assert server.asked == ["/asks"] * 2


@pytest.mark.parametrize("client", [client for client in CLIENTS if "async" not in str(client)], ids=str)
def test_file_is_sent_again_from_its_beginning(client):
    content = io.BytesIO(b"skipped" + b"x" * 200_000)
    # httpx itself sends a file from its beginning, or not at all.
    skipped = 0 if "httpx" in str(client) else 7
    content.seek(skipped)
    with asking() as server:
        got = client.send(
            server, PATH, method="POST", signer=make_signer(may_cover=["x-plan"]), body=content, fields=FIELDS
        )
        assert got == (200, "verified")
    assert [request.body for request in server.requests] == [content.getvalue()[skipped:]] * 2

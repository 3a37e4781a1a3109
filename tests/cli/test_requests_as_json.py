"""Requests as lines of JSON, as `sign` and `verify` read them."""

from __future__ import annotations

import base64
import os

import pytest
from tests.cli.command import answers, lines

from undersigned import Request, Signer, SigningKey, profiles

URL = "https://a.example/"
NONCE = "KXYnfEfJ0PBRZXQyVXfVQA"
NOW = 1_776_520_800


def request(**members: object) -> dict:
    return {"method": "POST", "url": URL, **members}


def signed(keys, *values: object) -> list[dict]:
    """What `sign` answers to lines."""
    command = ("sign", "--key", keys.private, "--created", str(NOW), "--nonce", NONCE, "-")
    return answers(*command, stdin=lines(*values))


def malformed(keys, value: object) -> str:
    [answer] = signed(keys, value)
    assert answer["error"] == "line_malformed"
    return answer["message"]


def expected(keys, fields=(), body: bytes = b"") -> list[list[str]]:
    """The fields that sign the request that a line describes."""
    signer = Signer(SigningKey.from_file(keys.private), profile=profiles.ADCP_3_2)
    made = signer.sign(Request("POST", URL, fields, body), created=NOW, nonce=NONCE)
    return [list(field) for field in made]


JSON = ("Content-Type", "application/json")
TEXT = ("Content-Type", "text/plain")


@pytest.mark.parametrize(
    ("headers", "fields"),
    [
        ({"Content-Type": "application/json", "b": " 2 "}, (JSON,)),
        ([["b", "1"], ["content-TYPE", "application/json"], ["B", "3"]], (JSON,)),
        ([["Content-Type", "application/json"], ["Host", "A.example:443"]], (JSON, ("Host", "a.example"))),
    ],
)
def test_headers_are_an_object_or_pairs(headers, fields, keys):
    [answer] = signed(keys, request(headers=headers, body="{}"))
    assert answer["headers"] == expected(keys, fields, b"{}")


@pytest.mark.parametrize("members", [{}, {"headers": None, "body": None, "body_b64": None}, {"id": 1}, {"body": ""}])
def test_headers_and_body_are_optional_and_other_members_ignored(members, keys):
    [answer] = signed(keys, request(**members))
    assert answer["headers"] == expected(keys)


@pytest.mark.parametrize("body", ["\u00fc", "{}", "\r\n"])
def test_body_is_encoded_as_utf_8_and_body_b64_is_any_bytes(body, keys):
    octets = os.urandom(32)
    encoded = base64.b64encode(octets).decode()
    text, any_bytes = signed(keys, *(request(headers=[TEXT], **one) for one in ({"body": body}, {"body_b64": encoded})))
    assert text["headers"] == expected(keys, [TEXT], body.encode())
    assert any_bytes["headers"] == expected(keys, [TEXT], octets)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((None, [], "GET"), "not a JSON object"),
        (({}, {"method": "GET"}, request(method=1), request(url=None)), "method and url must be strings"),
        ([request(headers=one) for one in ("a: b", 1)], "an object or a list"),
        (
            [request(headers=one) for one in ({"a": 1}, {"a": ["b", 1]}, ["ab"], [["a"]], [["a", "b", "c"]])],
            "must be strings",
        ),
        ([request(headers=one) for one in ([["a", None]], [{"a": "b"}])], "must be strings"),
        ([request(body=one, body_b64=one) for one in ("YQ==", "")], "either body or body_b64"),
        ((request(body={"a": 1}), request(body_b64=1)), "either body or body_b64"),
        ((request(body="\ud800"),), "lone surrogate"),
        ([request(body_b64=one) for one in ("YQ", "YQ==\n", "_-__", "\u00fc")], "not padded Base64"),
    ],
)
def test_line_is_malformed_without_the_form_of_a_request(values, message, keys):
    for value in values:
        assert message in malformed(keys, value)

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.profiles.wire import RESPONSES

from undersigned import KeyPair, Request, SignatureError, Signer
from undersigned.discovery.web_bot_auth import verify_directory
from undersigned.errors import ConfigurationError
from undersigned.message import Response
from undersigned.message.signature_agent import DIRECTORY_PATH, DIRECTORY_TYPE
from undersigned.profiles import WEB_BOT_AUTH_DIRECTORY

PUBLISHED = Path(__file__).parents[2] / "vectors" / "published" / "profiles" / "web-bot-auth"
NOW = 1_795_305_605
REQUEST = Request("GET", f"https://bot.example{DIRECTORY_PATH}")
PAIRS = [KeyPair.generate(), KeyPair.generate()]
BODY = json.dumps({"keys": [jwk for pair in PAIRS for jwk in pair.public["keys"]]}).encode()


def directory(*signing, body=BODY, fields=(("Content-Type", DIRECTORY_TYPE),), status=200) -> Response:
    """A directory that pairs sign, each with its label."""
    response = Response(status, fields, body, request=REQUEST)
    for label, pair in signing:
        signer = Signer(pair.signing_key(), profile=WEB_BOT_AUTH_DIRECTORY, clock=lambda: NOW)
        response = Response(
            status, [*response.fields, *signer.sign_response(response, label=label)], body, request=REQUEST
        )
    return response


def keys_of(response, *, now=NOW, **options) -> list[str]:
    return [key.keyid for key in verify_directory(response, clock=lambda: now, **options)]


def reason_of(response, **options) -> str:
    with pytest.raises(SignatureError) as raised:
        keys_of(response, **options)
    return raised.value.reason


def test_published_directory_of_the_draft_is_verified():
    document = json.loads((PUBLISHED / "directory_response_E.2.3.json").read_text("utf-8"))
    request, answer = Request(**document["request"]), document["response"]
    response = Response(answer["status"], answer["headers"], answer["body"], request=request)
    assert len(keys_of(response, now=1735689600, accepts_test_keys=True)) == 1
    assert reason_of(response, now=1735689600) == "signature_key_purpose_invalid"
    assert reason_of(response, now=1735689599, accepts_test_keys=True) == "signature_window_invalid"


def test_wire_example_is_verified():
    example = RESPONSES["wba-directory"]
    assert len(keys_of(example.response, now=example.now, accepts_test_keys=True)) == 1


def test_only_keys_that_signed_are_returned():
    first, second = (pair.signing_key().keyid for pair in PAIRS)
    assert keys_of(directory(("a", PAIRS[0]), ("b", PAIRS[1]))) == [first, second]
    assert keys_of(directory(("a", PAIRS[1]))) == [second]
    assert keys_of(directory(("a", PAIRS[0]), ("b", PAIRS[0]))) == [first]
    assert keys_of(directory(("a", KeyPair.generate()), ("b", PAIRS[1]))) == [second]


def test_at_most_eight_signatures_are_verified():
    own = directory(("own", PAIRS[0])).fields.combined

    def after(number):
        names = [f"s{number}" for number in range(number)]
        inputs = [f'{name}=();tag="http-message-signatures-directory"' for name in names]
        fields = [
            *((name, value) for name, value in own.items() if not name.startswith("signature")),
            ("Signature-Input", ", ".join([*inputs, own["signature-input"]])),
            ("Signature", ", ".join([*(f"{name}=:AAAA:" for name in names), own["signature"]])),
        ]
        return Response(200, fields, BODY, request=REQUEST)

    assert keys_of(after(7))
    assert reason_of(after(8)) == "signature_params_incomplete"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (directory(), "signature_required"),
        (directory(("a", PAIRS[0]), status=203), "body_malformed"),
        (directory(("a", PAIRS[0]), fields=[("Content-Type", "application/json")]), "body_malformed"),
        (directory(("a", PAIRS[0]), body=b"[]"), "body_malformed"),
        (directory(("a", PAIRS[0]), body=b"{}"), "body_malformed"),
        (directory(("a", KeyPair.generate())), "signature_key_unknown"),
        (
            Response(200, [*directory().fields, ("Signature-Input", "("), ("Signature", "(")], BODY, request=REQUEST),
            "signature_header_malformed",
        ),
        (
            Response(
                200, [*directory().fields, ("Signature-Input", 'a=();tag="x"'), ("Signature", "a=::")], BODY,
                request=REQUEST,
            ),
            "signature_required",
        ),
        (
            Response(200, directory(("a", PAIRS[0])).fields, BODY + b" ", request=REQUEST),
            "signature_digest_mismatch",
        ),
        (
            Response(200, directory(("a", PAIRS[0])).fields, BODY, request=Request("GET", "https://evil.example/")),
            "signature_invalid",
        ),
    ],
)  # fmt: skip
def test_directory_that_none_of_its_keys_signed_is_rejected(response, reason):
    assert reason_of(response) == reason


def test_directory_needs_the_request_that_it_answers():
    with pytest.raises(ConfigurationError, match=r"^response: "):
        verify_directory(Response(200, [], BODY))

"""http-message-signatures with undersigned's resolver: signed by one, verified by the other."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageSigner,
    HTTPMessageVerifier,
    InvalidSignature,
    MappingKeyResolver,
    algorithms,
)
from http_sf.compat import Item
from tests.keys import ed25519_key

from undersigned.message import LENIENT, Reading
from undersigned_hms import CanonicalComponentResolver

EXAMPLE = Path(__file__).parents[2] / "examples" / "sign_with_http_message_signatures.py"
KEYS = MappingKeyResolver(public_keys={"k": ed25519_key().public_key()}, private_keys={"k": ed25519_key()})
URL = "https://SELLER.example.com:443/a/../%70lans?tier=1"
CANONICAL = "https://seller.example.com/plans?tier=1"


@dataclass
class Sent:
    method: str = "GET"
    url: str = CANONICAL
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Answer:
    status_code: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    request: Sent | None = None


def handler(kind, resolver=CanonicalComponentResolver):
    return kind(signature_algorithm=algorithms.ED25519, key_resolver=KEYS, component_resolver_class=resolver)


def value(message: object, identifier: str, resolver=CanonicalComponentResolver) -> str:
    item = Item()
    item.parse(identifier.encode())
    return resolver(message).resolve(item)


def test_two_spellings_of_a_url_are_one_target():
    sent = requests.Request("GET", URL, headers={"X-A": "1"}).prepare()
    covered = ('"@method"', '"@target-uri"', '"@authority"', '"@query-param";name="tier"', '"x-a"')
    handler(HTTPMessageSigner).sign(sent, key_id="k", covered_component_ids=covered)
    assert CanonicalComponentResolver(sent).target_uri == CANONICAL
    received = requests.Request("GET", CANONICAL, headers=sent.headers).prepare()
    [verified] = handler(HTTPMessageVerifier).verify(received)
    assert verified.covered_components['"@target-uri"'] == CANONICAL
    other = requests.Request("GET", CANONICAL + "0", headers=sent.headers).prepare()
    with pytest.raises(InvalidSignature):
        handler(HTTPMessageVerifier).verify(other)


def test_response_covers_the_request_that_it_answers():
    answer = Answer(503, {"X-A": "1"}, Sent("POST", URL))
    assert value(answer, '"@status"') == "503"
    assert value(answer, '"@target-uri";req') == CANONICAL
    assert CanonicalComponentResolver(answer).target_uri == CANONICAL
    alone = Answer()
    assert CanonicalComponentResolver(alone).target_uri is None
    with pytest.raises(HTTPMessageSignaturesException, match="is not known"):
        value(alone, '"@method";req')


def test_trailers_and_request_target_are_read_if_the_message_has_them():
    sent = Sent("OPTIONS")
    sent.request_target = "*"
    sent.trailers = {"Expires": "never"}
    assert value(sent, '"@request-target"') == "*"
    assert value(sent, '"expires";tr') == "never"
    with pytest.raises(HTTPMessageSignaturesException, match="trailers are not read"):
        value(Sent(), '"expires";tr')


def test_subclass_chooses_the_reading():
    class Own(CanonicalComponentResolver):
        reading = Reading(lower_case_methods=True, field_types={"x-own": "list"})

    sent = Sent("get", headers={"X-Own": "a,b"})
    assert value(sent, '"@method"', Own) == "get"
    assert value(sent, '"x-own";sf', Own) == "a, b"
    with pytest.raises(HTTPMessageSignaturesException, match="upper-case"):
        value(sent, '"@method"')
    assert LENIENT.lower_case_methods


@pytest.mark.parametrize("message", [Sent(url="ftp://h/"), Answer(request=Sent(url="https://\ud800/"))])
def test_url_without_a_canonical_form_is_an_error_of_the_library(message):
    with pytest.raises(HTTPMessageSignaturesException, match="the URL has no canonical form"):
        CanonicalComponentResolver(message)


def test_example_runs():
    command = [sys.executable, "-W", "error", str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("send it to https://seller.example.com/plans/gold?tier=1\n")
    assert '\n"@query-param";name="tier": 1\n' in done.stdout

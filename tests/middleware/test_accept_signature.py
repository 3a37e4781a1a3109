"""Accept-Signature in the answers of both middlewares: what a signature of this very request must cover."""

from __future__ import annotations

import re

import pytest
from tests.keys import KEYS

from undersigned import Policy
from undersigned.policy import PathResolver
from undersigned.profiles import ADCP_3_2, UCP

PARAMETERS = ';created;expires;nonce="...";tag="adcp/request-signing/v1"'
BODILESS = f'sig1=("@method" "@target-uri" "@authority"){PARAMETERS}'
WITH_CONTENT = f'sig1=("@method" "@target-uri" "@authority" "content-type" "content-digest"){PARAMETERS}'


@pytest.fixture
def make(side):
    """Make a gate whose route requires a signature."""

    def made(profile=ADCP_3_2, **options):
        gate = side(keys=KEYS, profile=profile, **options)
        gate.run = lambda context: gate.interface.verified_signature(context, route="/plans")
        return gate

    return made


def ask(gate, method="GET", target="/plans", body=b"", **fields):
    answer = gate.ask(method, target, fields.items(), body)
    # Each response asks for a nonce of its own.
    asked = re.sub('nonce="[A-Za-z0-9_-]{22}"', 'nonce="..."', answer.fields["accept-signature"])
    return answer.status, answer.fields.get("www-authenticate"), asked


@pytest.mark.parametrize(
    "options",
    [{"mode": "required"}, {"mode": "optional"}, {"policy": Policy(required_for=["plans"], resolver=PathResolver())}],
    ids=["by the mode", "by a route", "by a policy"],
)
def test_answer_to_an_unsigned_request_says_what_to_cover(make, options):
    challenge = 'Signature error="request_signature_required"'
    gate = make(**options)
    assert ask(gate) == (401, challenge, BODILESS)
    assert ask(gate, "POST", body=b"{}") == (401, challenge, WITH_CONTENT)


def test_answer_asks_for_what_this_request_was_sent_with(make):
    fields = {"UCP-Agent": 'profile="https://platform.example/ucp"'}
    asked = ask(make(UCP), target="/plans?a=1", **fields)[2]
    assert asked.startswith('sig1=("@method" "@authority" "@path" "@query" "ucp-agent")')


def test_answer_to_a_signature_that_covers_too_little_says_what_to_cover(make):
    given = 'sig1=("@method");created=1;expires=2;nonce="KXYnfEfJ0PBRZXQyVXfVQA";keyid="a";alg="ed25519"'
    fields = {"Signature-Input": f'{given};tag="other"', "Signature": "sig1=:AAAA:"}
    rejected = (401, 'Signature error="request_signature_tag_invalid"', WITH_CONTENT)
    assert ask(make(), "POST", body=b"{}", **fields) == rejected

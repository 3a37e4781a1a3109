"""The published profiles over whole signed requests: what each accepts, and what it rejects."""

from __future__ import annotations

import re

import pytest
from tests.keys import OneKey, signing_key
from tests.profiles.examples import EXAMPLES, FILE, RESPONSES

from undersigned import KeySet, MemoryReplayStore, Request, SignatureError, Signer, Verifier, profiles

ALL = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
LONG = 10**8


def change_request(request, *, method=None, url=None, body=None, field=None, without=None):
    """Return the request with one change. `field` is a name with the pattern and the replacement for its value."""
    fields = [(name, value) for name, value in request.fields if name != without]
    if field is not None:
        name, pattern, replacement = field
        fields = [(each, re.sub(pattern, replacement, value) if each == name else value) for each, value in fields]
        assert fields != list(request.fields)
    return Request(method or request.method, url or request.url, fields, request.body if body is None else body)


def rejection(example, request, **options) -> str:
    with pytest.raises(SignatureError) as caught:
        example.verifier(**options).verify(request)
    return caught.value.reason


def test_every_published_profile_has_an_example():
    # AdCP publishes whole corpora.
    elsewhere = {name for name in profiles.BY_NAME if name.startswith("adcp-")} | {"default", "web-bot-auth"}
    shown = {example.profile.name for example in [*EXAMPLES.values(), *RESPONSES.values()]}
    assert shown | elsewhere == profiles.BY_NAME.keys(), f"add a whole message to {FILE}"


@pytest.mark.parametrize("example", [*EXAMPLES.values(), *RESPONSES.values()], ids=lambda example: example.name)
def test_example_is_of_the_edition_that_its_profile_reads_and_writes(example):
    source = example.profile.source
    assert example.edition == f"{source.document} {source.edition}".rstrip()


@ALL
def test_published_request_is_verified_over_its_published_base(example):
    verified = example.verifier().verify(example.request)
    assert verified.signature_base == example.base
    assert verified.algorithm in example.profile.algorithms


@pytest.mark.parametrize("name", ["wba-string", "wba-jwks"])
def test_bots_of_both_kinds_are_verified_with_one_profile(name):
    example = EXAMPLES[name]
    assert example.verifier(profile=profiles.WEB_BOT_AUTH).verify(example.request).signature_base == example.base
    uncovered = [("signature-agent", value) for field, value in example.request.fields if field == "signature-agent"]
    assert uncovered
    signer = Signer(signing_key(keyid=""), profile=profiles.WEB_BOT_AUTH, clock=lambda: example.now)
    request = Request("GET", "https://shop.example/", uncovered)
    identifier = '"signature-agent"' if name == "wba-string" else '"signature-agent";key="sig1"'
    assert identifier in dict(signer.sign(request))["Signature-Input"]
    silent = signer.sign(Request("GET", "https://shop.example/"))
    added = Request("GET", "https://shop.example/", [*uncovered, *silent])
    with pytest.raises(SignatureError, match="components_incomplete"):
        Verifier(
            profiles.WEB_BOT_AUTH, keys=OneKey(example.key), replay=MemoryReplayStore(), clock=lambda: example.now
        ).verify(added)


@ALL
def test_request_is_rejected_when_a_part_of_it_was_changed(example):
    request = example.request
    covered = {
        "method": ('"@method"', change_request(request, method="PUT")),
        "path": (
            '"@(?:target-uri|path|request-target)"',
            change_request(request, url=re.sub(r"(//[^/]+)/", r"\1/x", request.url)),
        ),
        "host": (
            '"@(?:target-uri|authority)"',
            change_request(request, url=re.sub("//[^/]+", "//other.example", request.url), without="host"),
        ),
        "parameter": ("", change_request(request, field=("signature-input", "$", ";x=1"))),
    }
    tried = [name for name, (needed, _) in covered.items() if re.search(needed, example.base)]
    for name in tried:
        is_audience = example.profile.parameters.audience and name in {"path", "host"}
        expected = "signature_params_unexpected" if is_audience else "signature_invalid"
        assert rejection(example, covered[name][1]) == expected, name
    assert len(tried) >= 3
    if request.has_body:
        assert rejection(example, change_request(request, body=request.body + b" ")) == "signature_digest_mismatch"
    assert rejection(example, change_request(request, field=("signature", "=:..", "=:AA"))) == "signature_invalid"


@ALL
def test_signature_that_ended_is_rejected_if_the_profile_bounds_it(example):
    ends = "created" in example.profile.required
    if ends:
        assert rejection(example, example.request, now=example.now + LONG) == "signature_window_invalid"
        assert rejection(example, example.request, now=example.now - LONG) == "signature_window_invalid"
    else:
        assert example.verifier(now=example.now + LONG).verify(example.request)


@ALL
def test_second_delivery_is_rejected_unless_the_profile_accepts_it(example):
    verifier = example.verifier()
    assert not verifier.verify(example.request).repeated
    rule = example.profile.replay
    if rule.remembers == "nothing" or rule.accepts_repeats:
        assert verifier.verify(example.request).repeated == rule.accepts_repeats
        return
    with pytest.raises(SignatureError) as caught:
        verifier.verify(example.request)
    assert caught.value.reason == "signature_replayed"


CHATGPT = {
    "Signature-Agent": '"https://chatgpt.com"',
    "Signature-Input": (
        'sig1=("@authority" "@method" "@path" "signature-agent");created=1754340838;'
        'keyid="otMqcjr17mGyruktGvJU8oojQTSMHlVm7uO-lrcqbdg";expires=1754344438;'
        'nonce="_8jbGwfLcgt_vUeiZQdWvfyIeh9FmlthEXElL-O2Rq5zydBYWivw4R3sV9PV-zGwZ2OEGr3T2Pmeo2NzmboMeQ";'
        'tag="web-bot-auth";alg="ed25519"'
    ),
    "Signature": ("sig1=:1AxfqHocTf693inKKMQ7NRoHoWAZ9d/vY4D/FO0+MqdFBy0HEH3ZIRv1c3hyiTrzCvquqDC8eYl1ojcPYOSpCQ==:"),
}
"""What ChatGPT's agent sent to simonwillison.net on 4 August 2025, as the owner of that site published it."""

CHATGPT_KEY = {
    "kty": "OKP",
    "crv": "Ed25519",
    "kid": "otMqcjr17mGyruktGvJU8oojQTSMHlVm7uO-lrcqbdg",
    "x": "7F_3jDlxaquwh291MiACkcS3Opq88NksyHiakzS-Y1g",
    "use": "sig",
    "nbf": 1735689600,
    "exp": 1754656053,
}
"""The key from the directory of that day."""


@pytest.mark.parametrize("profile", [profiles.WEB_BOT_AUTH, profiles.WEB_BOT_AUTH_STRING], ids=lambda one: one.name)
@pytest.mark.parametrize("path", ["/test-url-context", "/test-url-context/"])
def test_request_that_chatgpt_has_sent_is_verified_at_its_own_path_alone(profile, path):
    keys = KeySet.from_jwks({"keys": [CHATGPT_KEY]})
    verifier = Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: 1754340840)
    request = Request("GET", f"https://simonwillison.net{path}", list(CHATGPT.items()))
    if path.endswith("/"):
        with pytest.raises(SignatureError, match="signature_invalid"):
            verifier.verify(request)
    else:
        assert verifier.verify(request).keyid == CHATGPT_KEY["kid"]

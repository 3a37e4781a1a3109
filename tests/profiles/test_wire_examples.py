"""The published profiles over whole signed requests: what each accepts, and what it rejects."""

from __future__ import annotations

import pytest
from tests.keys import signing_key
from tests.profiles.examples import EXAMPLES, FILE, RESPONSES

from undersigned import KeySet, MemoryReplayStore, Request, SignatureError, Signer, Verifier, profiles


def test_every_published_profile_has_an_example():
    # AdCP publishes whole corpora.
    elsewhere = {name for name in profiles.BY_NAME if name.startswith("adcp-")} | {"default", "web-bot-auth"}
    shown = {example.profile.name for example in [*EXAMPLES.values(), *RESPONSES.values()]}
    assert shown | elsewhere == profiles.BY_NAME.keys(), f"add a whole message to {FILE}"


@pytest.mark.parametrize("example", [*EXAMPLES.values(), *RESPONSES.values()], ids=lambda example: example.name)
def test_example_is_of_the_edition_that_its_profile_reads_and_writes(example):
    source = example.profile.source
    assert example.edition == f"{source.document} {source.edition}".rstrip()


@pytest.mark.parametrize("name", ["wba-string", "wba-jwks"])
def test_bots_of_both_kinds_are_verified_with_one_profile(name):
    example = EXAMPLES[name]
    assert example.verifier(profiles.WEB_BOT_AUTH).verify(example.request).signature_base == example.base
    uncovered = [("signature-agent", value) for field, value in example.request.fields if field == "signature-agent"]
    assert uncovered
    signer = Signer(signing_key(keyid=""), profile=profiles.WEB_BOT_AUTH, clock=lambda: example.now)
    request = Request("GET", "https://shop.example/", uncovered)
    identifier = '"signature-agent"' if name == "wba-string" else '"signature-agent";key="sig1"'
    assert identifier in dict(signer.sign(request))["Signature-Input"]
    silent = signer.sign(Request("GET", "https://shop.example/"))
    added = Request("GET", "https://shop.example/", [*uncovered, *silent])
    with pytest.raises(SignatureError, match="components_incomplete"):
        example.verifier(profiles.WEB_BOT_AUTH).verify(added)


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

from __future__ import annotations

import json

import pytest
from tests.keys import OTHER_PUBLIC, PUBLIC
from tests.publishing.signed import keyids_that_signed

from undersigned import ConfigurationError, KeyPair, Request, SignatureError, SigningKey
from undersigned.message import DIRECTORY_PATH, Response
from undersigned.publishing import PublishedDirectory
from undersigned.testing import FrozenNonceClock

NOW = 1_795_305_605
ORIGIN = "https://bot.example"
PAIRS = [KeyPair.generate(), KeyPair.generate("ecdsa-p256-sha256"), KeyPair.generate()]
KEYS = {"keys": [jwk for pair in PAIRS for jwk in pair.public["keys"]]}
SIGNING_KEYS = [pair.signing_key() for pair in PAIRS]


def publish(keys=KEYS, signing_keys=SIGNING_KEYS, **options) -> PublishedDirectory:
    return PublishedDirectory(keys, signing_keys, **{"origin": ORIGIN, "now": lambda: NOW} | options)


def receive(served, *, url=ORIGIN + DIRECTORY_PATH) -> Response:
    return Response(200, served.fields, served.body, request=Request("GET", url))


def prove(served, *, now=NOW, **options) -> list[str]:
    return keyids_that_signed(receive(served, **options), clock=lambda: now)


def test_directory_is_signed_by_each_of_its_keys():
    served = publish().response("GET")
    fields = dict(served.fields)
    assert fields["Content-Type"] == "application/http-message-signatures-directory+json"
    assert fields["Cache-Control"] == "public, no-transform, max-age=300"
    assert prove(served) == [key.keyid for key in SIGNING_KEYS]
    assert fields["Signature-Input"].startswith('binding0=("@authority";req "content-digest");created=1795305605;')


def test_directory_is_for_its_own_origin_only():
    with pytest.raises(SignatureError) as raised:
        prove(publish().response("GET"), url=f"https://evil.example{DIRECTORY_PATH}")
    assert raised.value.reason == "signature_invalid"


def test_directory_is_signed_again_before_its_signatures_end():
    clock = FrozenNonceClock(NOW)
    published = publish(now=clock)
    first = published.response("GET")
    clock.now += 43_199
    assert published.response("GET") == first
    clock.now += 1
    second = published.response("GET")
    assert second != first
    assert prove(second, now=clock.now)
    clock.now -= 43_200
    assert prove(published.response("GET"), now=clock.now)  # the clock was set back


def test_changed_file_is_served_with_the_signatures_of_the_keys_that_sign(tmp_path):
    path, clock = tmp_path / "jwks.json", FrozenNonceClock()
    path.write_text(json.dumps({"keys": KEYS["keys"][:1]}))
    published = publish(path, SIGNING_KEYS[:1], clock=clock)
    new = tmp_path / "new.json"
    new.write_text(json.dumps(KEYS))
    new.rename(path)
    clock.now += 1
    served = published.response("GET")
    assert json.loads(served.body) == KEYS
    assert prove(served) == [SIGNING_KEYS[0].keyid]


def test_file_with_another_kid_than_the_thumbprint_is_not_served(tmp_path, caplog):
    path, clock = tmp_path / "jwks.json", FrozenNonceClock()
    path.write_text(json.dumps(KEYS))
    published = publish(path, clock=clock)
    new = tmp_path / "new.json"
    new.write_text(json.dumps({"keys": [PUBLIC]}))
    new.rename(path)
    clock.now += 1
    assert json.loads(published.response("GET").body) == KEYS
    assert "must be the thumbprint" in caplog.text


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"keys": {"keys": [PUBLIC]}}, "keys"),
        ({"keys": {"keys": [PAIRS[0].private]}}, "keys"),
        ({"signing_keys": SIGNING_KEYS[:2]}, "signing_keys"),
        ({"signing_keys": [*SIGNING_KEYS, KeyPair.generate().signing_key()]}, "signing_keys"),
        ({"signing_keys": SIGNING_KEYS[0]}, "signing_keys"),
        ({"signing_keys": [PAIRS[0].private]}, "key"),
        ({"origin": "http://bot.example"}, "origin"),
        ({"origin": "https://bot.example/path"}, "origin"),
        ({"origin": "bot.example"}, "origin"),
        ({"max_age": 43_201}, "max_age"),
        ({"max_age": -1}, "max_age"),
    ],
)
def test_directory_names_the_option_that_cannot_be_used(options, named):
    with pytest.raises(ConfigurationError, match=f"^{named}"):
        publish(**options)


def test_directory_of_more_keys_than_receivers_read_signatures_of_is_a_mistake():
    pairs = [KeyPair.generate() for _ in range(33)]
    with pytest.raises(ConfigurationError, match="not read so many signatures"):
        publish({"keys": [jwk for pair in pairs for jwk in pair.public["keys"]]}, [p.signing_key() for p in pairs])


def test_key_with_a_name_of_its_own_signs_no_directory():
    key = SigningKey.from_jwk({**PAIRS[0].private, "kid": "bot-2026"})
    with pytest.raises(ConfigurationError, match="thumbprint"):
        publish({"keys": [OTHER_PUBLIC]}, [key])

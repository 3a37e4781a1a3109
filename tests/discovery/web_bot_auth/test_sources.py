"""The key source of Web Bot Auth against a real key server, with threads and with asyncio."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.discovery.key_server import failure, response
from tests.keys import OTHER_PUBLIC, PUBLIC, ed25519_pair, lookup

from undersigned import (
    ConfigurationError,
    Request,
    SignatureError,
    Signer,
    SigningKey,
    VerificationKey,
)
from undersigned.discovery import Freshness
from undersigned.discovery.web_bot_auth import WebBotAuthKeys
from undersigned.message import DIRECTORY_PATH, HeaderFields, write_signature_agent
from undersigned.profiles import WEB_BOT_AUTH, WEB_BOT_AUTH_JWKS, WEB_BOT_AUTH_STRING, WEB_BOT_AUTH_TYPED

NAME = VerificationKey.from_jwk(PUBLIC).thumbprint
OTHER = VerificationKey.from_jwk(OTHER_PUBLIC).thumbprint
OWN = PUBLIC | {"kid": NAME}
SET = {"keys": [OWN]}
PRIVATE = ed25519_pair(NAME)[0]
TEST_KEY = {"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}
DIRECTORY_TYPE = "Content-Type: application/http-message-signatures-directory+json"
PROFILES = {"string": WEB_BOT_AUTH_STRING, "typed": WEB_BOT_AUTH_TYPED, "jwks": WEB_BOT_AUTH_JWKS, "any": WEB_BOT_AUTH}


def directory(document=SET, *fields):
    return response(document, f"{DIRECTORY_TYPE}; charset=utf-8", *fields)


def ask_about(value, keyid=NAME, *, covered='"signature-agent";key="sig1"', label="sig1"):
    """What the source is asked about a signature that covers a part of Signature-Agent."""
    return lookup(
        keyid,
        fields=HeaderFields([] if value is None else [("Signature-Agent", value)]),
        components=frozenset({"@authority", "signature-agent"} if covered else {"@authority"}),
        identifiers=('"@authority"', covered),
        label=label,
    )


@pytest.fixture
def make(server, clock):
    def make(form="jwks", **options):
        return WebBotAuthKeys(form=form, **{"network": server.network(), "clock": clock, **options})

    return make


@pytest.fixture
def find(world, server, make):
    """Find keys at a path of the server."""
    source = make()

    def find(path="/jwks.json", keyid=NAME, source=source):
        return world.find_all(source, ask_about(f'sig1="{server.url(path)}"', keyid))

    return find


def test_key_of_a_set_is_owned_by_its_url_with_its_query(find, server):
    for tenant in ("victim", "mallory"):
        server.answers[f"/k?t={tenant}"] = response(SET)
        [key] = find(f"/k?t={tenant}")
        assert (key.keyid, key.owner) == (NAME, server.url(f"/k?t={tenant}"))


@pytest.mark.parametrize("period", [{"nbf": 1, "exp": 2}, {"nbf": 10**12}, {"exp": "never"}])
def test_key_counts_as_long_as_it_is_listed(find, server, period):
    server.answers["/jwks.json"] = response({"keys": [{**SET["keys"][0], **period}]})
    [key] = find("/jwks.json")
    assert not key.fault


def test_key_of_a_directory_is_owned_by_the_directory(world, make, server):
    server.answers[DIRECTORY_PATH] = directory()
    for form, value, covered in (
        ("string", f'"{server.url("")}"', '"signature-agent"'),
        ("typed", f'sig1="{server.url("/")}"', '"signature-agent";key="sig1"'),
    ):
        [key] = world.find_all(make(form), ask_about(value, covered=covered))
        assert key.owner == server.url(DIRECTORY_PATH)
    assert b"\r\nAccept: application/http-message-signatures-directory+json\r\n" in server.requests[0]


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_keys_that_are_not_published_are_unknown_and_known_ones_are_used(find, server, clock, status):
    server.answers["/jwks.json"] = response(SET)
    [found] = find()
    server.answers["/jwks.json"] = response(b"", status=status)
    clock.now += 300
    assert find() == (found,)
    assert failure(find, keyid=OTHER).reason == "signature_key_unknown"


@pytest.mark.parametrize("kid", [{}, {"kid": "bot-2026"}, {"kid": 1}])
def test_key_of_a_directory_is_named_by_its_thumbprint_only(world, make, server, kid):
    named = {name: value for name, value in OWN.items() if name != "kid"} | kid
    server.answers[DIRECTORY_PATH] = directory({"keys": [named, "no key", OTHER_PUBLIC | {"kid": OTHER}]})
    source = make("typed")
    value = f'sig1="{server.url("")}"'
    assert world.find_all(source, ask_about(value, NAME)) == ()
    assert world.find_all(source, ask_about(value, "bot-2026")) == ()
    assert world.find_all(source, ask_about(value, OTHER))


@pytest.mark.parametrize("kid", [{}, {"kid": "bot-2026"}])
def test_key_of_a_set_without_thumbprints_is_found_by_its_thumbprint(find, server, kid):
    named = {name: value for name, value in OWN.items() if name != "kid"} | kid
    server.answers["/jwks.json"] = response({"keys": [named, {"kty": "OKP", "crv": "Ed25519"}]})
    [key] = find()
    assert (key.keyid, key.thumbprint) == (NAME, NAME)
    assert len(find(keyid="bot-2026")) == len(kid)


@pytest.mark.parametrize(
    "answer",
    [
        response(SET, "Content-Type: application/json"),
        response(SET),
        response(SET, DIRECTORY_TYPE, status="203 Other"),
        response(SET, DIRECTORY_TYPE, "Location: /jwks.json", status="302 Found"),
    ],
)
def test_directory_that_is_none_is_unavailable(world, make, server, answer):
    server.answers |= {DIRECTORY_PATH: answer, "/jwks.json": directory()}
    assert failure(world.find_all, make("typed"), ask_about(f'sig1="{server.url("")}"')).reason == (
        "signature_jwks_unavailable"
    )
    assert server.asked("/jwks.json") == 0


@pytest.mark.parametrize(
    ("form", "value", "covered", "reason"),
    [
        ("jwks", None, '"signature-agent";key="sig1"', "signature_identity_missing"),
        ("jwks", 'sig1="https://bot.example/"', "", "signature_identity_missing"),
        ("jwks", 'sig1="https://bot.example/"', '"signature-agent"', "signature_identity_missing"),
        ("string", '"https://bot.example"', '"signature-agent";key="sig1"', "signature_identity_missing"),
        ("jwks", 'sig1="https://bot.example/";x', '"signature-agent";key="sig1"', "signature_identity_missing"),
        ("typed", 'sig1="https://bot.example/";type=x', '"signature-agent";key="sig1"', "signature_identity_missing"),
        ("string", '"https://bot.example/k"', '"signature-agent"', "signature_identity_missing"),
        ("string", '"http://bot.example"', '"signature-agent"', "signature_header_malformed"),
        ("string", 'sig1="https://bot.example"', '"signature-agent"', "signature_header_malformed"),
        ("jwks", '"https://bot.example"', '"signature-agent";key="sig1"', "signature_header_malformed"),
        ("jwks", 'a="https://bot.example"', '"signature-agent";key="sig1"', "signature_header_malformed"),
        ("jwks", 'sig1="https://127.0.0.1/"', '"signature-agent";key="sig1"', "signature_jwks_untrusted"),
        ("jwks", 'sig1="https://[::1]/"', '"signature-agent";key="sig1"', "signature_jwks_untrusted"),
        ("jwks", 'sig1="https://10.0.0.1/"', '"signature-agent";key="sig1"', "signature_jwks_untrusted"),
    ],
)
def test_reason_says_why_nobody_is_known(world, make, server, form, value, covered, reason):
    source = make(form, network=server.network(allowed=()))
    assert failure(world.find_all, source, ask_about(value, covered=covered)).reason == reason
    assert not server.requests


def test_member_of_the_label_counts_and_else_the_only_covered_one(world, make, server):
    server.answers |= {"/a": response(SET), "/sig1": response({"keys": []})}
    value = f'sig1="{server.url("/sig1")}", a="{server.url("/a")}"'
    covers_a = '"signature-agent";key="a"'
    assert world.find_all(make(), ask_about(value, covered=covers_a))
    both = ask_about(value)._replace(identifiers=('"signature-agent";key="sig1"', covers_a))
    assert world.find_all(make(), both) == ()
    assert world.find_all(make(), both._replace(label="a"))
    assert failure(world.find_all, make(), both._replace(label="b")).reason == "signature_identity_missing"


def test_same_keyid_of_another_url_is_another_key(find, server):
    server.answers |= {"/a": response(SET), "/b": response({"keys": [OTHER_PUBLIC]})}
    assert find("/a")
    assert find("/b") == ()


def test_two_spellings_of_a_url_are_fetched_once(world, make, server):
    server.answers["/jwks.json"] = response(SET)
    source = make()
    for url in (
        server.url(),
        server.url("/x/../jwks.json"),
        server.url().replace("https", "HTTPS"),
        server.url() + "#a",
    ):
        assert world.find_all(source, ask_about(f'sig1="{url}"'))
    assert server.asked() == 1


def test_published_test_key_verifies_nothing(world, make, server):
    name = VerificationKey.from_jwk(TEST_KEY | {"kid": "test"}).thumbprint
    server.answers["/jwks.json"] = response({"keys": [TEST_KEY]})
    value = f'sig1="{server.url()}"'
    [key] = world.find_all(make(), ask_about(value, name))
    assert "published test key" in key.fault


def test_list_of_trusted_urls_is_asked_before_any_fetch(world, make, server):
    server.answers |= {DIRECTORY_PATH: directory(), "/jwks.json": response(SET)}
    value = f'sig1="{server.url("")}"'
    for trusted in ([server.url("")], {server.url(DIRECTORY_PATH)}, lambda url: url == server.url(DIRECTORY_PATH)):
        assert world.find_all(make("typed", trusted=trusted), ask_about(value))
    for trusted in ([], [server.url("/jwks.json")], lambda _url: False):
        asked_before = len(server.requests)
        reason = failure(world.find_all, make("typed", trusted=trusted), ask_about(value)).reason
        assert (reason, len(server.requests)) == ("signature_jwks_untrusted", asked_before)


def test_held_key_verifies_what_signature_agent_does_not_lead_to(world, make, server):
    server.answers["/jwks.json"] = response({"keys": [OTHER_PUBLIC]})
    source = make(held=[VerificationKey.from_jwk(PUBLIC, owner="somebody")], trusted=[server.url()])
    for value, covered in (
        (None, ""),
        (f'sig1="{server.url()}"', '"signature-agent";key="sig1"'),
        ('sig1="https://bot.example/"', '"signature-agent";key="sig1"'),
    ):
        [key] = world.find_all(source, ask_about(value, covered=covered))
        assert (key.keyid, key.owner) == (NAME, NAME)
    del server.answers["/jwks.json"]
    source = make(held=[VerificationKey.from_jwk(PUBLIC)])
    [key] = world.find_all(source, ask_about(f'sig1="{server.url()}"'))
    assert key.owner == NAME
    assert failure(world.find_all, source, ask_about(None, "another")).reason == "signature_identity_missing"


def test_key_that_the_url_lists_is_owned_by_the_url_even_if_it_is_held(world, make, server):
    server.answers["/jwks.json"] = response(SET)
    source = make(held=[VerificationKey.from_jwk(PUBLIC)])
    [key] = world.find_all(source, ask_about(f'sig1="{server.url()}"'))
    assert key.owner == server.url()


def test_strangers_cause_a_bounded_number_of_fetches_a_minute(find, make, server, clock):
    source = make(most_a_minute=5)
    server.answers["/known"] = response(SET, "Cache-Control: max-age=60")
    assert find("/known", source=source)
    reasons = Counter(failure(find, f"/{number}", source=source).reason for number in range(50))
    assert reasons == {"signature_key_unknown": 4, "signature_jwks_unavailable": 46}
    assert len(server.requests) == 5
    # Whoever gave keys before is not kept out by strangers.
    clock.now += 12
    failure(find, "/50", source=source)
    assert server.asked("/50") == 1
    clock.now += 60
    for number in range(60, 70):
        failure(find, f"/{number}", source=source)
    assert find("/known", source=source)
    assert server.asked("/known") == 2
    assert len(server.requests) == 5 + 1 + 5 + 1


def test_card_leads_to_the_keys(world, make, server):
    card = {"client_id": server.url("/card")}
    server.answers |= {
        "/card": response(card | {"jwks": SET}, "Cache-Control: max-age=100"),
        "/other": response(card | {"client_id": server.url("/other"), "jwks_uri": server.url()}),
        "/jwks.json": response({"keys": [OTHER_PUBLIC]}),
    }
    source = make("typed")
    [key] = world.find_all(source, ask_about(f'sig1="{server.url("/card")}";type=cimd'))
    assert key.owner == server.url("/card")
    [key] = world.find_all(source, ask_about(f'sig1="{server.url("/other")}";type=cimd', OTHER))
    assert key.owner == server.url("/other")
    spelled = ask_about(f'sig1="{server.url("/x/../card")}";type=cimd')
    assert failure(world.find_all, source, spelled).reason == "signature_jwks_unavailable"


def test_key_set_of_a_card_is_fetched_only_if_it_is_trusted(world, make, server):
    server.answers |= {
        "/card": response({"client_id": server.url("/card"), "jwks_uri": server.url("/x/../jwks.json")}),
        "/jwks.json": response(SET),
    }
    asks, asked = ask_about(f'sig1="{server.url("/card")}";type=cimd'), []
    for trusted in ([server.url("/card")], lambda url: asked.append(url) or url == server.url("/card")):
        failed = failure(world.find_all, make("typed", trusted=trusted), asks)
        assert failed.reason == "signature_jwks_untrusted"
        assert "jwks_uri" in str(failed)
    assert asked[-1] == server.url()
    assert not server.asked()
    assert world.find_all(make("typed", trusted=[server.url("/card"), server.url()]), asks)


@pytest.mark.parametrize("keys", [{}, {"jwks": []}, {"jwks_uri": ""}, {"jwks_uri": 5}, {"jwks": "https://a.example/"}])
def test_card_without_usable_keys_is_rejected(keys, world, make, server):
    server.answers["/card"] = response({"client_id": server.url("/card"), **keys})
    asks = ask_about(f'sig1="{server.url("/card")}";type=cimd')
    assert "jwks" in str(failure(world.find_all, make("typed"), asks))


def test_card_cannot_name_a_private_address(world, make, server):
    server.answers["/card"] = response({"client_id": server.url("/card"), "jwks_uri": "https://[::1]/"})
    asks = ask_about(f'sig1="{server.url("/card")}";type=cimd')
    assert failure(world.find_all, make("typed"), asks).reason == "signature_jwks_untrusted"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"trusted": "https://bot.example"}, "trusted"),
        ({"trusted": ["bot.example"]}, "trusted"),
        ({"trusted": [b"https://bot.example"]}, "trusted"),
        ({"held": [VerificationKey.from_jwk({"kid": "x"})]}, "held"),
        ({"held": [VerificationKey.from_jwk(TEST_KEY | {"kid": "x"})]}, "held"),
        ({"freshness": Freshness(interval=301)}, "freshness"),
    ],
)
def test_source_names_the_option_that_cannot_be_used(options, named):
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        WebBotAuthKeys(**{"form": "jwks"} | options)


@pytest.mark.parametrize(
    ("form", "read_as"),
    [("string", "string"), ("typed", "typed"), ("jwks", "jwks"), ("string", "any"), ("jwks", "any")],
)
def test_signed_request_is_verified_with_the_keys_of_its_sender(world, make, server, form, read_as):
    server.answers |= {"/jwks.json": response(SET), DIRECTORY_PATH: directory()}
    url = server.url() if form == "jwks" else server.url("")
    profile = PROFILES[read_as]
    request = Request("GET", "https://shop.example/p?q=1", [("Signature-Agent", write_signature_agent(url, form=form))])
    fields = Signer(SigningKey.from_jwk(PRIVATE), profile=profile).sign(request)
    signed = Request(request.method, request.url, [*request.fields, *fields])

    def verify(message):
        return world.verifying(profile, make(read_as))(message)

    owner = server.url() if form == "jwks" else server.url(DIRECTORY_PATH)
    assert verify(signed).signer == owner
    server.answers.clear()
    with pytest.raises(SignatureError) as raised:
        verify(signed)
    assert raised.value.reason in profile.answers.unknown
    server.answers |= {"/jwks.json": response({"keys": []}), DIRECTORY_PATH: directory({"keys": []})}
    with pytest.raises(SignatureError) as raised:
        verify(signed)
    assert raised.value.reason == "signature_key_unknown"

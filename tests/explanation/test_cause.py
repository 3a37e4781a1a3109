"""Causes: a request that was signed and then changed is explained by exactly the change that was made."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from pathlib import Path
from typing import get_args

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from hypothesis import given
from hypothesis import strategies as st
from tests import keys
from tests.explanation.changes import CHANGED
from tests.keys import OneKey
from tests.profiles.examples import EXAMPLES

from undersigned import ConfigurationError, KeyPair, MalformedURL, Request, SigningError, profiles
from undersigned.explanation import NAMES, explain_request
from undersigned.explanation import cause as module
from undersigned.explanation.advice import CHANGES, Maker

JSON = b'{"b": [1, {"c": null}], "a": "x"}'
GZIP = gzip.compress(JSON, mtime=0)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Search without a bound on the time, so that no busy machine changes the result."""
    monkeypatch.setattr(module, "MOST_SECONDS", 60)


def explain(received, profile=profiles.ADCP_3_2, source=keys.KEYS, *, now=keys.NOW, **options):
    return explain_request(received, profile, source, now=now, **options)


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_change_on_the_way_is_explained_by_its_name(changed):
    found = explain(changed.received, changed.profile, changed.known, origins=changed.origins, now=changed.now)
    assert found.cause is not None
    assert found.cause.name == changed.name
    assert changed.words in str(found.cause)
    assert found.cause.signed != found.cause.received
    assert set(found.cause.makers) <= set(get_args(Maker))
    assert found.summary == f"Cause: {found.cause}"
    assert found.summary.isascii()


def test_every_change_has_a_case_and_is_in_the_documentation():
    assert {name for changed in CHANGED.values() for name in changed.name.split(" and ")} == set(NAMES)
    page = (Path(__file__).parents[2] / "docs" / "rejected.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in page] == []
    texts = [text.partition(": ")[2] for text in CHANGES.values()]
    assert len(set(texts)) == len(texts)


# What is found is proven

BASE64 = st.binary(min_size=64, max_size=64)
TARGETS = st.text(st.sampled_from("/ab%2F?&=.+"), max_size=12).map("/".__add__)


@given(signature=BASE64, target=TARGETS, body=st.sampled_from([b"", b"{}", b'{"a": 1}']))
def test_signature_that_nobody_made_is_never_explained(signature, target, body):
    request = keys.signed_request(url=f"https://seller.example.com{target.split('?')[0].replace('%', '')}", body=body)
    spelled = f"sig1=:{base64.b64encode(signature).decode()}:"
    forged = keys.with_field(
        keys.replace_parts(request, url=f"https://seller.example.com{target}"), "signature", spelled
    )
    assert explain(forged).cause is None


@given(target=TARGETS, other=TARGETS)
def test_base_of_a_cause_is_one_that_the_key_signed(target, other):
    try:
        request = keys.signed_request("GET", f"https://seller.example.com{target}", (), b"")
    except (MalformedURL, SigningError):
        return
    found = explain(keys.replace_parts(request, url=f"https://seller.example.com{other}"))
    if found.cause is not None:
        signed = keys.signer().sign(Request("GET", f"https://seller.example.com{target}"), nonce=keys.NONCE)
        assert found.cause.base == found.signers_base == signed.signature_base
        assert found.cause.keyid == "buyer-ed25519"


@pytest.mark.parametrize("source", [keys.KEYS, OneKey(keys.KEYS.keys["buyer-ed25519"][0])])
def test_verified_request_has_no_cause(source):
    found = explain(keys.signed_request(), source=source)
    summary = "Verified with the profile adcp-3.2 as of when it was signed. Now: the signature has expired."
    assert (found.cause, found.error, found.summary) == (None, None, summary)


def test_long_texts_of_a_cause_are_shown_from_shortly_before_their_difference():
    path = f"/{'a' * 200}/b"
    request = keys.signed_request("GET", f"https://seller.example.com{path}/", (), b"")
    found = explain(keys.replace_parts(request, url=f"https://seller.example.com{path}"))
    assert (found.cause.name, found.cause.received) == ("trailing slash", f"...{path[-20:]}")
    assert found.cause.signed == f"{found.cause.received}/"


# Content


@pytest.mark.parametrize(
    ("signed", "received", "words"),
    [
        (JSON + b"\n", JSON, "the body with LF at its end"),
        (JSON + b"\r\n", JSON, "the body with CRLF at its end"),
        (b"a", b"a\r\n", "the body without its final line end"),
        (b"a\nb", b"a\r\nb", "the body with LF instead of CRLF"),
        (b"a\r\nb", b"a\nb", "the body with CRLF instead of LF"),
        (json.dumps(json.loads(JSON), separators=(",", ":")).encode(), JSON, "the same JSON written compactly"),
        (json.dumps(json.loads(JSON), indent=4, sort_keys=True).encode(), JSON, "indented by 4, with sorted keys"),
        (b'{"a":"\\u00e9"}', '{"a": "é"}'.encode(), "written compactly, with non-ASCII escaped"),
        (gzip.compress(JSON, mtime=0), JSON, "the body compressed with gzip"),
        (gzip.compress(JSON, 9, mtime=keys.NOW - 2), JSON, "the body compressed with gzip"),
        (zlib.compress(JSON), JSON, "the body compressed with deflate"),
        (JSON, gzip.compress(JSON, mtime=0), "the body before it was compressed"),
        (JSON, zlib.compress(JSON)[2:-4], "the body before it was compressed"),
        (b"\xef\xbb\xbf{}", b"{}", "the body with a byte order mark (BOM)"),
        (b"{}", b"\xef\xbb\xbf{}", "the body without its byte order mark (BOM)"),
        (b"gr\xfcn", "grün".encode(), "the body in latin-1 in place of UTF-8"),
        ("grün".encode(), "grün".encode().decode("latin-1").encode(), "the body in latin-1 in place of UTF-8"),
        ("10 €".encode("cp1252"), "10 €".encode(), "the body in cp1252 in place of UTF-8"),
        ("gru\u0308n".encode(), "grün".encode(), "in Unicode's form NFD"),
        ("grün".encode(), "grün".encode("latin-1"), "the body in UTF-8, read as latin-1 and written again"),
        (b"a=b+c", b"a=b%20c", "the form with + for %20"),
        (b"a=%c3%bc", b"a=%C3%BC", "the form with its escapes in lower case"),
        (b"a=%7Eb+c", b"a=~b%20c", "the form written again with + for a space, as JavaScript and Java do"),
        (b"a[0]=b", b"a%5B0%5D=b", "the form written again with + for a space and plain brackets"),
        (b"b=1&a=%2F", b"b=1&a=/", "the form written again with + for a space"),
        (b'{"a":"x\\/y"}', b'{"a": "x/y"}', "compactly, with slashes escaped"),
        (b'{"a":"x\\/\\u00fc"}', '{"a": "x/ü"}'.encode(), "with slashes and non-ASCII escaped, as PHP does"),
        (b'{"a":"\\u003cb\\u003e"}', b'{"a": "<b>"}', "compactly, with <, > and & escaped, as Go does"),
        (b'{"a":"x\\u00FC\\u0027"}', '{"a": "xü\'"}'.encode(), "escaped in upper case, as .NET does"),
        (b'{"a":"\\ud83c\\udf75"}', '{"a": "🍵"}'.encode(), "compactly, with non-ASCII escaped"),
        (
            b'{"a":12.5,"b":1,"c":1e-7,"d":0.00001,"e":9007199254740992}',
            b'{"a": 12.50, "b": 1.0, "c": 1e-07, "d": 1e-05, "e": 9007199254740993}',
            "as JavaScript writes them",
        ),
        (b'{"a":12.5,"b":1}', b'{"a": 12.50, "b": 1}', "with numbers as JavaScript writes them"),
        (b'{"a": 12.5, "b": 1.0}', b'{"a":12.50,"b":1.00}', "as json.dumps does, with numbers as Python writes them"),
        (b'{"a":1.0}', b'{"a": 1}', "with .0 after whole numbers"),
        (b'{"a":12.50}', b'{"a": 12.5}', "with two decimals"),
        (b'{\n  "a" : [ 1, { } ]\n}', b'{"a":[1,{}]}', "indented by 2, as Jackson does"),
        (b'{\n  "a" : [\n\n  ]\n}', b'{"a":[]}', "indented by 2, as Swift does"),
        (b'{\n   "a": [\n      1\n   ]\n}', b'{"a":[1]}', "written indented by 3"),
        (b'{\n\t"a":1\n}\n', b'{"a":1}', "indented by tabs with no space after a colon, and LF"),
        (b'{"a": 1, "c": 2, "aa": 3}', b'{"aa":3,"a":1,"c":2}', "sorted by length"),
        (b'{"a":1.0E7,"b":1.5E-4}', b'{"a":10000000.0,"b":0.00015}', "as Java writes them"),
        (b'{"a":1.0e+20}', b'{"a":1E20}', "as Ruby writes them"),
        (b'{"a":0.10000000000000001,"b":1}', b'{"a":0.1,"b":1}', "as PHP before 7.1 writes them"),
        (b'{"a":"1.5"}', b'{"a":1.5}', "with numbers as strings"),
        (b'{\n "a": 1e999\n}', b'{"a":1e999}', "indented by 1"),
        (b'{\r\n  "a": 1\r\n}', b'{"a": 1}', "indented by 2, with CRLF"),
        (b'{"a": 1,"b":[{}]}'.replace(b'"b":', b'"b": '), b'{"a":1,"b":[{"c":null}]}', ", without null members"),
        (b"%b\x00%b" % (GZIP[:9], GZIP[10:]), JSON, "the body compressed with gzip"),
        (b'{"a":1}\n', b'{"a": 1}', "written compactly, and LF"),
        (b'"{}"', b"{}", "the body as a JSON string"),
        (b'{"a":1}', b'{"a":1,"b":"","c":[],"d":0}', "without empty members, as omitempty of Go does"),
        (b'{"a" : 1, "b" : 2}', b'{"a":1,"b":2}', "as json_build_object of PostgreSQL does"),
        (b"gr?n", "grün".encode(), "the body with ? for each non-ASCII character"),
        (b"10 \xa4", "10 €".encode(), "the body in iso-8859-15 in place of UTF-8"),
        (b"\n{}", b"{}", "the body with LF at its beginning"),
        (b"a=b c", b"a=b%20c", "the form, decoded"),
        (b"{}", b'"{}"', "the JSON in the string that the body is"),
        (base64.b64encode(JSON), JSON, "the Base64 of the body"),
        (JSON[:7], JSON, "the first 7 bytes of the body"),
        (b"null", b"", "null in place of the body"),
        (JSON, zlib.compress(JSON), "the body before it was compressed"),
    ],
)
def test_content_that_was_changed_is_described(signed, received, words):
    request = keys.signed_request(body=signed, fields=[("Content-Type", "application/json")])
    found = explain(keys.replace_parts(request, body=received))
    assert found.cause.name == "other content"
    assert words in found.cause.signed
    assert not found.digests.matches


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b'{"a": 1, "a": 2}',
        b'"\\ud800"',
        b"[" * 100_000,
        b"[" * 40 + b"]" * 40,
        b"x" * 200_000,
        b'{"a": 1.5}' + b" " * 140_000,
        b"a=%FF",
        gzip.compress(b"0" * 2_000_000, mtime=0),
    ],
)
def test_content_that_nothing_explains_is_said_plainly(body):
    found = explain(keys.replace_parts(keys.signed_request(body=b"else"), body=body))
    assert found.cause is None
    assert found.summary.startswith("No cause found: neither JSON written again, other line ends or charsets nor usual")
    assert found.summary.endswith("compare it with the body that was sent")


def test_body_that_did_not_arrive_is_said_to_be_lost_and_a_shorter_one_to_be_cut():
    found = explain(keys.replace_parts(keys.signed_request(body=b"else"), body=b""))
    assert found.summary.startswith("Cause: the body is empty, and the digest is of another one: it was lost, or is ")
    request = keys.signed_request(body=JSON, fields=[keys.JSON_FIELD, ("Content-Length", str(len(JSON)))])
    found = explain(keys.replace_parts(request, body=JSON[:9]))
    assert found.summary == f"Cause: the body has 9 bytes, and Content-Length is {len(JSON)}: it was cut in transit"


@pytest.mark.parametrize("value", ["md5=:AAAA:", f"sha-256=:{'A' * 41}:"])
def test_digest_that_nothing_explains_is_shown_with_what_is_accepted(value):
    request = Request("POST", keys.URL, [keys.JSON_FIELD, ("Content-Digest", value)], JSON)
    found = explain(keys.hostile_request(request, keys.covering(*keys.FULL)))
    assert (found.cause, value in found.summary or "padding" in found.summary) == (None, True)


# What is not proven


def test_another_key_under_the_same_kid_is_said_plainly():
    stranger = KeyPair.generate(keyid="buyer-ed25519").signing_key()
    found = explain(keys.signed_request(key=stranger))
    assert found.cause is None
    assert "No cause found" in found.summary
    assert "Left: a proxy strips a path prefix, the sender has another key under that kid" in found.summary
    assert "give the URL that clients call, such as --origin https://" in found.summary
    assert keys.KEYS.keys["buyer-ed25519"][0].thumbprint in found.summary


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("an ECDSA signature with s before r", "has 40 bytes, and one by ecdsa-p256-sha256 has 64: it was cut"),
        ("RSA in PKCS #1 with another hash", "has 40 bytes, and one by rsa-v1_5-sha256 has 256: it was cut"),
    ],
)
def test_signature_that_was_cut_is_told_by_its_length(name, words):
    changed = CHANGED[name]
    cut = keys.with_field(changed.received, "signature", f"sig1=:{base64.b64encode(bytes(40)).decode()}:")
    found = explain(cut, changed.profile, changed.known)
    assert (found.cause, words in found.summary) == (None, True)


def test_other_request_of_the_same_key_is_not_explained():
    request = keys.signed_request()
    many = keys.hostile_request(Request("GET", keys.URL), f"{keys.covering(*keys.BARE)};x;y")
    for one in (request, many):
        found = explain(keys.replace_parts(one, url="https://seller.example.com/elsewhere/7"))
        assert (found.cause, found.summary[:15]) == (None, "No cause found:")


@pytest.mark.parametrize("size", [1 << 300, 1 << 500], ids=["one curve", "no curve"])
def test_der_signature_that_nobody_made_is_not_explained(size):
    spelled = f"sig1=:{base64.b64encode(encode_dss_signature(size, 1)).decode()}:"
    assert explain(keys.with_field(keys.signed_request(), "signature", spelled)).cause is None


@pytest.mark.parametrize("length", [5_000, 70_000], ids=["long field", "long base"])
def test_covered_field_that_is_very_long_is_not_explained(length):
    request = Request("GET", keys.URL, [("X-List", "a" * length)])
    sent = keys.hostile_request(request, keys.covering(*keys.BARE, "x-list"))
    found = explain(keys.with_field(sent, "x-list", "b" * length))
    assert (found.cause, found.error.step) == (None, 10)


@pytest.mark.parametrize("unit", ["(", "=", '="', "a=(", "'", "created=1"])
def test_signature_input_of_any_length_is_looked_at_once(unit):
    # It would take minutes, if it were looked at again from each of these.
    found = explain(keys.with_field(keys.signed_request(), "signature-input", unit * (300_000 // len(unit))))
    assert (found.error.step, found.base) == (1, None)


def test_url_without_a_canonical_authority_is_said_plainly():
    found = explain(keys.replace_parts(keys.signed_request(), url="https://seller..example.com/"))
    assert (found.cause, found.base) == (None, None)
    assert found.summary.startswith("Cause: target, authority and signature: ")


def test_search_ends_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(module, "MOST_SECONDS", 0)
    assert explain(CHANGED["an added query"].received).cause is None
    assert explain(keys.replace_parts(keys.signed_request(body=b"a\n"), body=b"a")).cause is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([], "presence of a signature"),
        ([("Signature-Input", keys.covering(*keys.BARE)), ("Signature", "sig1=:*:")], "syntax"),
        ([("Signature-Input", keys.covering(*keys.BARE)), ("Signature", "other=:AAAA:")], "syntax"),
        ([("Signature-Input", "other=()"), ("Signature", "other=:AAAA:")], ""),
        ([("Signature-Input", keys.covering(*keys.BARE, tag='"other"')), ("Signature", "sig1=:AAAA:")], "tag"),
        ([("Signature-Input", keys.covering(*keys.BARE, nonce='"short"')), ("Signature", "sig1=:AAAA:")], "nonce"),
        ([("Signature", 'keyId="a",headers="date",signature="AA=="')], "draft-cavage"),
        ([("Authorization", 'Signature keyId="a",signature="AA=="')], "draft-cavage"),
    ],
)
def test_request_whose_signature_cannot_be_verified_is_explained_by_its_step(fields, words):
    found = explain(Request("GET", keys.URL, fields))
    assert found.cause is None
    assert found.summary.startswith("Cause: ")
    assert words in found.summary


def test_signature_that_is_repeated_is_no_signature_in_another_form():
    signed = keys.signed_request()
    again = ("Signature", signed.fields.combined["signature"])
    found = explain(keys.replace_parts(signed, fields=[*signed.fields, again]))
    assert (found.cause, "a label or key is repeated" in found.summary) == (None, True)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('" "', '", "', "the components are separated with commas"),
        (r"[()]", "", "the components are not in parentheses"),
        ("sig1=", "", "the label, such as sig1=, is missing"),
        (r'"(@[a-z-]+)"', r"\1", "the names of the components have no quotation marks"),
        ('"', "'", "single quotation marks stand for double ones"),
        ("@method", "@Method", "the names of the components are not in lower case"),
        (f"created={keys.NOW}", f"created={keys.NOW}000000", "a time is in microseconds or nanoseconds"),
        ("sig1=", "sig1==", "structured field dictionary. Fix"),
    ],
)
def test_syntax_that_is_usual_by_mistake_is_named(before, after, words):
    claim = re.sub(before, after, keys.covering(*keys.BARE))
    found = explain(keys.unsigned_claim(claim))
    assert found.summary.startswith("Cause: syntax of the signature fields: Signature-Input: ")
    assert words in found.summary


def test_signature_of_no_profile_is_explained_by_what_is_missing():
    claims = ", ".join(keys.covering(*keys.BARE, label=label, tag='"other"') for label in ("one", "two"))
    found = explain(keys.unsigned_claim(claims, "one=:AAAA:, two=:AAAA:"), profiles.WEB_BOT_AUTH_STRING)
    assert (found.cause, found.validity, found.error.step) == (None, None, 0)


VALID = f"(valid from {keys.NOW} to {keys.NOW + 300}, seconds since the epoch; created is 1000 seconds behind"


@pytest.mark.parametrize(
    ("off", "offsets", "words"),
    [
        (1000, (), VALID),
        (1000, (-1003, -1000, -998), "3 requests show that the sender's clock is 998 to 1003 s behind)"),
        (1000, (-1000, 3), f"{VALID})"),
        (3605, (), "3605 seconds behind, 1 hour, as when local time"),
        (7000, (), "behind). Fix"),
    ],
)
def test_clock_that_is_off_is_the_cause_if_it_is_given(off, offsets, words):
    summary = explain(keys.signed_request(), now=keys.NOW + off, clock_offsets=offsets).summary
    assert summary.startswith("Cause: validity period: ")
    assert words in summary
    assert explain_request(keys.signed_request(), None, keys.KEYS).error is None


def test_window_that_is_too_long_is_no_fault_of_a_clock():
    claim = keys.covering(*keys.BARE, expires=keys.NOW + 9000)
    found = explain_request(keys.hostile_request(Request("GET", keys.URL), claim), profiles.ADCP_3_2, keys.KEYS)
    assert f"300 seconds (valid from {keys.NOW} to {keys.NOW + 9000}, seconds since the epoch). Fix" in found.summary


def test_unknown_key_is_named_with_those_that_are_known():
    stranger = KeyPair.generate(keyid="nobody").signing_key()
    found = explain(keys.signed_request(key=stranger))
    assert "(received: keyid nobody; known: buyer-ed25519, " in found.summary


def test_source_that_fails_leaves_nothing_to_prove():
    class Broken(OneKey):
        blocking = False

        def find(self, lookup):  # noqa: ARG002
            raise RuntimeError

    found = explain(keys.signed_request(), source=Broken(None))
    assert (found.cause, found.error.step) == (None, 7)


def test_digest_in_another_form_is_shown_in_its_form():
    request = keys.signed_request(body=JSON)
    for algorithm, encoding in (("sha-512", "base64"), ("sha-256", "base64url")):
        value = keys.digest_of(JSON, algorithm, encoding=encoding)
        found = explain(keys.with_field(request, "content-digest", value))
        assert found.digests.computed == value
    assert explain(keys.with_field(request, "content-digest", "?")).digests.matches is False


# The signer's base


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_first_difference_from_the_signers_base_is_found(end):
    request = keys.signed_request("GET", keys.URL, (), b"")
    base = explain(request).base
    assert explain(request, signers_base=(base + end).encode()).difference is None
    other = base.replace("seller", "sold", 1)
    found = explain(request, signers_base=(other + end).encode()).difference
    at = base.index("seller") + 1
    assert (found.offset, found.line, found.column) == (at, 2, at - base.index("\n"))
    assert (found.rebuilt, found.signers) == (base.split("\n")[1], other.split("\n")[1])


def test_equal_bases_say_that_the_key_or_the_signature_is_another_one():
    stranger = KeyPair.generate(keyid="buyer-ed25519").signing_key()
    request = keys.signed_request("GET", keys.URL, (), b"", key=stranger)
    found = explain(request, signers_base=explain(request).base.encode())
    assert (
        found.summary
        == "Cause: if this base is the sender's, not the server's, another key signed, or the signature was changed"
    )


def test_base_is_not_asked_about_if_the_signature_is_valid_and_a_rule_rejects_it():
    request = keys.signed_request("GET", keys.URL, (), b"")
    source = keys.KeySet.from_jwks({"keys": [{**keys.PUBLIC, "use": "enc"}]})
    found = explain(request, source=source, signers_base=explain(request).base.encode())
    assert found.summary.startswith("Cause: key purpose: the JWK's use is not sig (received: alg ed25519; the JWK has")
    assert "use enc" in found.summary


def test_base_is_told_from_a_request_that_has_none():
    request = keys.hostile_request(Request("GET", keys.URL, [("X-A", "b")]), keys.covering(*keys.BARE, "x-a"))
    base = explain(request).base.encode()
    for saved in (base, b"\xef\xbb\xbf" + base.replace(b"\n", b"\r\n") + b"\r\n"):
        found = explain(keys.with_field(request, "x-a", None), signers_base=saved)
        assert found.summary.startswith("Cause: the key is right: ")
        assert found.summary.endswith('; the request has no base to compare with: "x-a" has no value')


@pytest.mark.parametrize("length", [0, 1])
def test_base_that_ends_early_differs_at_its_end(length):
    request = keys.signed_request("GET", keys.URL, (), b"")
    base = explain(request).base
    found = explain(request, signers_base=base.rpartition("\n")[0].encode() + b"\n" * length).difference
    assert (found.line, found.signers) == (base.count("\n") + 1, "")


# The profile


@pytest.mark.parametrize("name", sorted(set(profiles.BY_NAME) - {one.name for one in profiles.FOR_REQUESTS}))
def test_profile_for_responses_is_refused(name):
    with pytest.raises(ConfigurationError, match=f"^profile: {name} signs responses; pass one that signs requests$"):
        explain(keys.signed_request(), profiles.BY_NAME[name])


@pytest.mark.parametrize("name", ["adcp-3.2", "adcp-3.1", "gnap"])
def test_profile_is_guessed_if_none_is_given(name):
    example = EXAMPLES.get(name)
    if name.startswith("adcp"):
        request, known, now = keys.signed_request(profile=profiles.BY_NAME[name]), keys.KEYS, keys.NOW
    else:
        request, known, now = example.request, OneKey(example.key), example.now
    found = explain_request(request, None, known, now=now)
    assert (found.profile, found.error) == (name, None)


def test_profile_is_not_guessed_for_a_tag_that_no_published_profile_has():
    own = profiles.ADCP_3_2.derive(name="own", selection=profiles.ADCP_3_2.selection._replace(tags=("other",)))
    request = keys.signed_request(profile=own)
    found = explain_request(request, None, keys.KEYS, now=keys.NOW)
    assert found.summary.startswith("Not verified: no published profile has the tag other, so nothing is guessed. ")
    assert "--profile main:PROFILE" in found.summary
    assert (found.profile, found.cause, found.error.step) == ("", None, 3)
    assert explain_request(request, own, keys.KEYS, now=keys.NOW).error is None


def test_profile_is_one_that_takes_the_key_if_the_signature_is_valid_for_too_long():
    validity = profiles.DEFAULT.validity._replace(longest=3600)
    request = keys.signed_request(
        profile=profiles.DEFAULT.derive(name="long", validity=validity), expires=keys.NOW + 3600
    )
    found = explain_request(request, None, keys.KEYS, now=keys.NOW)
    assert (found.profile, found.error.reason) == ("default", "signature_window_invalid")


def test_profile_is_guessed_without_a_tag_among_those_that_need_none():
    claim = keys.unsigned_claim(keys.covering(*keys.BARE, tag=None))
    guessed = profiles.BY_NAME[explain_request(claim, None, keys.KEYS, now=keys.NOW).profile]
    assert guessed.selection.tag is None

"""The contract of every client: what is signed, what is sent, and what never leaves."""

from __future__ import annotations

import io
import re

import pytest
from tests.integrations.capture import capturing
from tests.integrations.every_client import CLIENTS, EVERY
from tests.keys import key_pair
from tests.seller import CREDENTIALS, KEYID, AsyncKey, is_accepted, make_signer

from undersigned import ConfigurationError, MalformedURL, Signer, SigningError, profiles
from undersigned.client import BotAuth

TEXT = {"Content-Type": "text/plain; charset=utf-8"}
CONTENT = b"ab\x00\xff" * 20_000


def path_to(seller, status, to) -> str:
    """The path that redirects to `to`."""
    return seller.go(status, to).removeprefix(seller.origin)


def send_once(client, target="/p", *, method="GET", **options):
    with capturing() as capture:
        client.send(capture, target, method=method, **options)
    assert is_accepted(capture.only)
    return capture.only


@EVERY
@pytest.mark.parametrize(
    ("method", "body", "fields", "content"),
    [
        ("GET", None, {}, b""),
        ("DELETE", None, {}, b""),
        ("POST", None, {}, b""),
        ("POST", b"", {}, b""),
        ("PUT", "gr\u00fc\u00dfe", TEXT, "gr\u00fc\u00dfe".encode()),
        ("PATCH", b"\x00\xff", TEXT, b"\x00\xff"),
        ("GET", b"in a GET", TEXT, b"in a GET"),
    ],
)
def test_seller_accepts_every_kind_of_content(seller, client, method, body, fields, content):
    assert client.send(seller, "/adcp?x=1", method=method, body=body, fields=fields)[0] == 200
    [arrival] = seller.arrivals
    assert (arrival.keyid, arrival.method, arrival.body) == (KEYID, method, content)


@EVERY
@pytest.mark.parametrize("status", [0, 307])
def test_stream_is_kept_and_sent_again_after_a_redirect(seller, client, status):
    async def chunks():
        yield CONTENT[:9]
        yield CONTENT[9:]

    body = chunks() if client.asynchronous else iter([CONTENT[:9], CONTENT[9:]])
    path = path_to(seller, status, "/next") if status else "/p"
    assert client.send(seller, path, method="POST", body=body, fields=TEXT)[0] == 200
    assert [(one.keyid, one.body) for one in seller.arrivals] == [(KEYID, CONTENT)] * (2 if status else 1)


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.sends_files], ids=str)
@pytest.mark.parametrize("status", [0, 307])
def test_file_is_read_to_sign_it_and_again_to_send_it_from_where_it_was(seller, client, status, tmp_path):
    path = tmp_path / "file"
    skipped = b"" if "httpx-" in str(client) else b"skipped"  # httpx counts a file from its beginning
    path.write_bytes(skipped + CONTENT)
    target = path_to(seller, status, "/next") if status else "/p"
    with path.open("rb") as file:
        file.seek(len(skipped))
        assert client.send(seller, target, method="POST", body=file, fields=TEXT, max_spooled=0)[0] == 200
    assert [(one.keyid, one.body) for one in seller.arrivals] == [(KEYID, CONTENT)] * (2 if status else 1)
    assert client.send(seller, "/p", method="POST", body=io.BytesIO(), fields=TEXT)[0] == 200


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.sends_files], ids=str)
@pytest.mark.parametrize("change", ["grows", "shrinks", "changes"])
def test_file_that_changes_while_it_is_sent_is_cut_or_not_sent_to_its_end(client, change, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(CONTENT)
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

    class Key:
        """A key that changes the file when it is asked to sign, which is after the file was read."""

        def __init__(self) -> None:
            self.keyid, self.algorithm = KEYID, "ed25519"

        def sign(self, base):
            with path.open("r+b") as file:
                file.seek(0, 2 if change == "grows" else 0)
                if change == "shrinks":
                    file.truncate(70_000)
                else:
                    file.write(smuggled)
            return key_pair("ed25519").signing_key().sign(base)

    with capturing() as capture, path.open("rb") as file:
        sent = {"method": "POST", "body": file, "fields": TEXT, "signer": Signer(Key(), profile=profiles.ADCP_3_2)}
        if change == "grows":
            assert client.send(capture, "/p", **sent)[0] == 200
        else:
            with pytest.raises(SigningError, match="content: it changed after it was signed"):
                client.send(capture, "/p", **sent)
    assert [one.body for one in capture.sent] == [CONTENT] * (change == "grows")


@EVERY
def test_stream_above_the_limit_is_not_sent(seller, client):
    async def chunks():
        yield CONTENT

    body = chunks() if client.asynchronous else iter([CONTENT])
    with pytest.raises(SigningError, match="content: the stream has more than 1000 bytes"):
        client.send(seller, "/p", method="POST", body=body, fields=TEXT, max_spooled=1000)
    assert seller.arrivals == []


@EVERY
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_within_the_origin_is_signed_for_its_own_target_and_method(seller, client, status, method):
    body = b'{"a":1}' if method == "POST" else None
    assert client.send(seller, path_to(seller, status, "/next"), method=method, body=body)[0] == 200
    first, second = seller.arrivals
    assert [first.keyid, second.keyid, second.target] == [KEYID, KEYID, "/next"]
    assert first.fields["signature-input"] != second.fields["signature-input"]
    assert ("content-digest" in second.fields) == bool(second.body)
    assert second.body in {first.body, b""}


@EVERY
@pytest.mark.parametrize("status", [302, 307])
def test_redirect_to_another_listed_origin_is_signed_and_has_no_credentials(seller, other, client, status):
    path = path_to(seller, status, f"{other.origin}/%7enext?a=b")
    given = {"Content-Type": "application/json", **CREDENTIALS}
    sent = {"method": "POST", "body": b"{}", "fields": given, "origins": [seller.origin, other.origin]}
    assert client.send(seller, path, **sent)[0] == 200
    (first,), (second,) = seller.arrivals, other.arrivals
    assert (second.keyid, second.target) == (KEYID, "/~next?a=b")
    assert (second.method, second.body) == (("GET", b"") if status == 302 else ("POST", b"{}"))
    assert (first.has_credentials, second.has_credentials) == (True, False)


@EVERY
@pytest.mark.parametrize("status", [302, 307])
def test_redirect_to_an_origin_that_is_not_listed_sends_nothing(seller, client, status):
    with capturing() as capture:
        path = path_to(seller, status, f"{capture.origin}/next")
        with pytest.raises(SigningError, match=r"origins: http://127\.0\.0\.1:\d+ is not listed.*do not follow"):
            client.send(seller, path, method="POST", body=b"{}")
    assert capture.sent == []
    with pytest.raises(SigningError, match="not listed for this path"):
        client.send(seller, path_to(seller, status, "/other"), origins=[f"{seller.origin}/go"])


@EVERY
def test_existing_signature_is_replaced(seller, client):
    old = {"Signature": "x=:AAAA:", "Signature-Input": "x=()", "Content-Digest": "sha-256=:AAAA:"}
    assert client.send(seller, "/p", fields=old)[0] == 200
    assert seller.arrivals[0].keyid == KEYID
    assert "content-digest" not in seller.arrivals[0].fields


@EVERY
def test_request_to_an_origin_that_is_not_listed_sends_nothing(client):
    with capturing() as capture:
        for origins in (["https://seller.example.com"], [f"{capture.origin}/api"], lambda _origin: capture.origin):
            with pytest.raises(SigningError, match=r"origins: \S+ is not listed .* add it to origins="):
                client.send(capture, "/p", origins=origins)
    assert capture.sent == []


@EVERY
def test_function_lists_the_origins(seller, client):
    asked = []

    def ask(origin):
        asked.append(origin)
        return True

    assert client.send(seller, "/p", origins=ask)[0] == 200
    assert set(asked) == {seller.origin}
    assert seller.arrivals[0].keyid == KEYID


@EVERY
@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("", "/"),
        ("/?q", "/?q"),
        ("/p#fragment", "/p"),
        ("/a%2Fb//c?x=a+b&y=%7e", None),
        ("/%7euser/%c3%a9", "/~user/%C3%A9"),
        ("/a/./b/../c", "/a/c"),
        ("/caf\u00e9?q=\u00e9", "/caf%C3%A9?q=%C3%A9"),
        ("/a b?c d", None),
        ("/p?a[]=1|2", None),
        ("/[|^]{}`", None),
        ("/p?", None),
        ("//other.example/p", "//other.example/p"),
        ("/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="),
    ],
)
def test_target_on_the_wire_is_the_signed_target(client, typed, target):
    sent = send_once(client, typed)
    assert target is None or sent.target == target


PRINTABLE = bytes(range(0x20, 0x7F)).decode()
# A client changes one letter or digit as it changes another.
PLAIN = re.sub(r"[^0-9A-Za-z]", "", PRINTABLE)
PUNCTUATION = [each for each in PRINTABLE if each not in PLAIN]
ESCAPED = [f"%{ord(each):02{case}}" for each in [*PUNCTUATION, "k", "z"] for case in "xX"]
WRITTEN = [*PUNCTUATION, *dict.fromkeys(ESCAPED), PLAIN, "".join(f"%{ord(each):02x}" for each in PLAIN), "%zz", "%7"]


@EVERY
@pytest.mark.parametrize("place", ["/a{}b", "/p?q={}b"])
def test_each_character_is_refused_or_accepted_by_the_middleware(seller, client, place):
    refused = []
    for written in WRITTEN:
        try:
            status, text = client.send(seller, place.replace("{}", written))
        except MalformedURL:
            refused.append(written)
        else:
            assert (written, status) == (written, 200), text
    assert set(refused) <= {*"\\%", "%zz", "%7"}


@EVERY
def test_request_that_cannot_be_signed_is_not_sent(client):
    with capturing() as capture, pytest.raises(SigningError, match="Host is not the URL's authority"):
        client.send(capture, "/p", fields={"Host": "other.example.com"})
    assert capture.sent == []


@EVERY
def test_async_key_is_awaited_by_clients_for_asyncio_only(seller, client):
    remote = Signer(AsyncKey(), profile=profiles.ADCP_3_2)
    if client.asynchronous:
        assert client.send(seller, "/p", signer=remote)[0] == 200
        assert seller.arrivals[0].keyid == KEYID
        return
    with pytest.raises(ConfigurationError, match="its sign method is async; use an asyncio client"):
        client.send(seller, "/p", signer=remote)


@EVERY
def test_signer_is_asked_for_before_each_request(seller, client):
    asked = []

    def current():
        asked.append(1)
        return make_signer()

    client.send(seller, path_to(seller, 302, "/next"), signer=current)
    assert len(asked) >= 2
    assert [one.keyid for one in seller.arrivals] == [KEYID] * 2


@EVERY
def test_covered_field_is_signed_as_it_is_sent(client):
    covered = ["cookie"] if "requests" in str(client) else ["cookie", "host"]  # requests has no Host of its own
    sent = send_once(client, signer=make_signer(components=covered), fields={"Cookie": "a=1"})
    assert sent.lines("cookie") == ["a=1"]


@EVERY
def test_bot_says_where_its_keys_are_and_signs_that(client):
    pair = key_pair("ed25519")
    for profile, form in ((profiles.WEB_BOT_AUTH_STRING, "string"), (profiles.WEB_BOT_AUTH_TYPED, "typed")):
        bot = BotAuth(Signer(pair.signing_key(), profile=profile), agent="https://bot.example", form=form)
        with capturing() as capture:
            given = {"Signature-Agent": '"https://other.example"'}
            client.send(capture, "/p", signer=bot, origins=lambda _origin: True, fields=given)
        value = '"https://bot.example"' if form == "string" else 'sig1="https://bot.example"'
        assert capture.only.lines("signature-agent") == [value]
        assert '"signature-agent"' in capture.only.lines("signature-input")[0]


@EVERY
@pytest.mark.parametrize(
    ("signer", "origins", "named"),
    [
        ("a signer", None, "signer: pass a Signer"),
        (lambda: None, None, "signer: the function must return a Signer"),
        (None, "https://seller.example.com", "origins: pass a list"),
        (None, [], "origins: list"),
        (None, ["seller.example.com"], "origins: "),
    ],
)
def test_wrong_option_is_rejected(seller, client, signer, origins, named):
    with pytest.raises(ConfigurationError, match=named):
        client.send(seller, "/p", signer=signer, **({} if origins is None else {"origins": origins}))
    assert seller.arrivals == []

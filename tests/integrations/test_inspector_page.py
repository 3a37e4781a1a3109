"""The page of the inspector: who reaches it, what it shows, and that nothing that is pasted is kept."""

from __future__ import annotations

import contextlib
import json
import logging
import signal
import subprocess
import sys
from html import unescape
from urllib.parse import urlencode

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.integrations.capture import threaded
from tests.keys import BODY, JSON_FIELD, JWKS, PRIVATE, PUBLIC, ed25519_key, signed_request
from tests.wire import ask, raw_request

from undersigned import profiles
from undersigned_inspector import command
from undersigned_inspector.page import paste
from undersigned_inspector.server import MOST_BYTES, PageServer

HOST = ("Host", "seller.example.com")
SIGNED = signed_request(url="https://seller.example.com/a%2Fb?x=1", fields=[HOST, JSON_FIELD])
KEYS = json.dumps(JWKS)
PEM = ed25519_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


class Visitor:
    """A client of the page."""

    def __init__(self, url):
        self.port = int(url.split(":")[2].partition("/")[0])
        self.token = url.split("/")[3]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, path="", method="GET", body=b"", *, token=None, **fields):
        target = f"/{self.token if token is None else token}/{path}"
        answer = ask(self.port, raw_request(method, target, fields.items(), body, host=self.host))
        return answer.status, answer.fields, answer.content

    def paste(self, path="", **texts):
        """What the page shows of these texts, without its form and its tags."""
        status, _, content = self.ask(path, "POST", urlencode(texts).encode(), Origin=f"http://{self.host}")
        assert status == 200
        return content.decode()


@contextlib.contextmanager
def serving(page):
    with threaded(PageServer(page)) as server:
        yield Visitor(server.url)


@pytest.fixture(scope="module")
def visitor():
    with serving(paste) as visitor:
        yield visitor


def raw(target="/a%2Fb?x=1"):
    fields = "".join(f"{name}: {value}\n" for name, value in SIGNED.fields)
    return f"POST {target} HTTP/1.1\n{fields}\n{BODY.decode()}"


def curl_v():
    lines = ["POST /a%2Fb?x=1 HTTP/1.1", *(f"{name}: {value}" for name, value in SIGNED.fields), "Content-Length: 9"]
    return "".join(f"> {line}\n" for line in [*lines, ""])


def show(**texts):
    """What the page shows, with the texts of its tags alone."""
    shown = paste("", {"request": raw(), "keys": KEYS, **texts})
    return shown.partition("<form")[0], shown


def verdict(**texts):
    return unescape(show(**texts)[0].partition('id="verdict">')[2].partition("</h2>")[0])


@pytest.mark.parametrize(
    ("path", "kind"), [("", "text/html; charset=utf-8"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")]
)
def test_every_file_has_its_type_and_the_guarding_fields(visitor, path, kind):
    status, fields, content = visitor.ask(path)
    assert (status, fields["content-type"]) == (200, kind)
    assert content
    policy = fields["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'")
    assert "script" not in policy
    assert (fields["x-content-type-options"], fields["referrer-policy"]) == ("nosniff", "same-origin")
    assert (fields["cache-control"], "server" in fields) == ("no-store", False)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_other_host_is_rejected(visitor, host):
    status, fields, content = visitor.ask(Host=host.format(port=visitor.port))
    assert (status, content) == (421, b"")
    assert "content-security-policy" in fields


def test_localhost_is_a_host_of_the_page(visitor):
    assert visitor.ask(Host=f"localhost:{visitor.port}")[0] == 200


@pytest.mark.parametrize("token", ["", "x", "{token}x", "x{token}", "%7Btoken%7D", ".."])
def test_other_token_is_not_found(visitor, token):
    for path in ("", "page.css"):
        assert visitor.ask(path, token=token.format(token=visitor.token))[0] == 404


def test_token_without_its_slash_is_not_found(visitor):
    assert ask(visitor.port, raw_request("GET", f"/{visitor.token}", host=visitor.host)).status == 404


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://{host}", "http://127.0.0.1:1", None])
def test_form_from_another_origin_is_rejected(visitor, origin):
    fields = {} if origin is None else {"Origin": origin.format(host=visitor.host)}
    assert visitor.ask("", "POST", b"request=x", **fields)[0] == 403
    assert visitor.ask("", "POST", b"request=x", Host="evil.example", **fields)[0] == 421


def test_other_method_or_path_is_rejected(visitor):
    status, fields, content = visitor.ask("", "PUT")
    assert (status, content) == (501, b"")
    assert "content-security-policy" in fields
    for path in ("nothing", "1", "../page.css"):
        assert visitor.ask(path)[0] == 404


@pytest.mark.parametrize("length", [str(MOST_BYTES + 1), "-1", "9" * 5000, "x", None])
def test_content_without_a_usable_length_is_not_read(visitor, length):
    fields, body = {"Content-Length": length}, b""
    if length is None:
        fields, body = {"Transfer-Encoding": "chunked"}, b"0\r\n\r\n"
    assert visitor.ask("", "POST", body, Origin=f"http://{visitor.host}", **fields)[0] == 413


def test_pasted_request_is_explained_and_stays_in_the_form(visitor):
    shown = visitor.paste(request=raw().replace("\n", "\r\n"), keys=KEYS)
    assert "Verified: every checked step passes" in shown
    assert unescape(shown).count(raw()) == 1


def test_unusable_text_is_answered_beside_its_field(visitor):
    shown = visitor.paste(request="nothing")
    assert "line 1 is not a request line" in shown
    assert 'id="verdict"' not in shown


def test_fault_of_the_inspector_quotes_nothing(caplog):
    def fail(_path, texts):
        raise RuntimeError(texts)

    with serving(fail) as visitor:
        status, _, content = visitor.ask("", "POST", b"request=c4nary", Origin=f"http://{visitor.host}")
    assert (status, content) == (500, b"the inspector failed (RuntimeError): this is its fault, not yours")
    assert "RuntimeError" in caplog.text
    assert "c4nary" not in caplog.text


def test_connection_that_breaks_is_not_logged(caplog):
    def leave(_path, _texts):
        raise ConnectionResetError

    with serving(leave) as visitor:
        assert visitor.ask()[0] == 500
    assert caplog.text == ""


def test_nothing_that_is_pasted_is_logged(visitor, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        for text in (raw().replace("application/json", "c4nary"), "c4nary", '{"c4nary"'):
            visitor.paste(request=text, body="c4nary", base="c4nary", keys="c4nary")
    assert "c4nary" not in caplog.text
    assert capfd.readouterr() == ("", "")


WATCHED = """
import json
import sys
from undersigned_inspector.page import paste

texts = json.loads(sys.stdin.buffer.read())
events = []

def watch(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.fork", "tempfile.", "os.mkdir")):
        events.append(event)
    if event == "open" and (arguments[1] is None or set(arguments[1]) & set("wax+")):
        events.append(f"open {arguments[1]}")

sys.addaudithook(watch)
for _ in range(2):
    shown = paste("", texts)
print("request_signature_invalid" in shown, events)
"""


def test_explanation_opens_no_socket_starts_no_process_and_writes_no_file():
    given = json.dumps({"request": raw("/a/b?x=1"), "keys": KEYS}).encode()
    run = subprocess.run([sys.executable, "-c", WATCHED], input=given, capture_output=True, check=True)  # noqa: S603 - our own words
    assert (run.stdout.decode().strip(), run.stderr) == ("True []", b"")


def test_rejected_request_is_shown_with_its_cause_and_both_bases():
    assert verdict(request=raw("/a/b?x=1")).startswith("Rejected at step 10, target, authority and signature")
    shown = show(request=raw("/a/b?x=1"))[0]
    assert '<p class="cause">Cause: decoded octets: the sender signed /a%2Fb; you received /a/b.' in shown
    assert "The bases first differ at byte 59: line 2, column 44." in shown
    assert shown.count("<mark>") == 2
    assert "<u>/a/b</u>" in shown
    assert '<li class="failed">10. ' in shown


def test_request_without_its_content_is_checked_up_to_it():
    assert verdict(request=curl_v()).startswith("Verified up to the content")
    assert verdict(request=curl_v(), body=BODY.decode()) == "Verified: every checked step passes"
    shown = show(request=curl_v(), body=BODY.decode() + "\n")[0]
    assert "line end" in shown
    assert ", but Content-Digest declares another" in shown


def test_signers_base_that_is_pasted_is_compared():
    unknown = {"request": raw("/other"), "keys": KEYS}
    shown = show(**unknown, base='"@method": POST')[0]
    assert shown.count("(its end)") == 1
    assert "<th>Signed</th>" in shown
    assert "<th>Signed</th>" not in show(**unknown)[0]


def test_request_that_has_no_base_says_so():
    assert "It cannot be rebuilt from this request." in show(request="GET / HTTP/1.1\nHost: a\n")[0]


def test_canonicalization_is_shown_rule_by_rule():
    shown = show(request="GET https://SELLER.example.com:443/a/../b HTTP/1.1\nHost: seller.example.com\n")[0]
    assert "<b>host-case</b>" in shown
    assert "after: https://seller.example.com:443/a/../b" in shown
    assert "Canonical form: https://seller.example.com/b" in shown
    assert "No canonical form: " in show(request="GET https://a:x/ HTTP/1.1\nHost: a\n")[0]


@pytest.mark.parametrize("body", ["\u00e9\x00\u202e<b>", "x" * 5000])
def test_content_is_shown_without_control_characters(body):
    shown = show(request=curl_v(), body=body)[0]
    assert "\x00" not in shown
    assert "\u202e" not in shown
    assert "<b>" not in shown.partition("<pre>")[2].partition("</pre>")[0]
    assert "x" * 4097 not in shown


def test_options_of_the_form_are_used():
    assert "<dd>ucp</dd>" in show(profile="ucp")[0]
    assert '<option selected="">ucp</option>' in show(profile="ucp")[1]
    own = profiles.UCP.derive(name="own")
    shown = paste("", {"request": raw(), "keys": KEYS, "profile": "main:OWN"}, {"main:OWN": own})
    assert '<option selected="">main:OWN</option>' in shown
    assert "<dd>own</dd>" in shown
    assert "http://seller.example.com/a%2Fb" in show(origin="http://seller.example.com")[0]
    assert verdict(request="GET / HTTP/1.1\nHost: a\n", profile="no such").startswith("Rejected at step 0")


def test_time_that_no_calendar_has_is_shown_as_a_number():
    late = raw().replace(";created=", ";created=99999")
    assert "seconds since the epoch" in show(request=late)[0]


@pytest.mark.parametrize("keys", [KEYS, json.dumps(PUBLIC), PEM], ids=["set", "jwk", "pem"])
def test_keys_may_be_a_set_a_jwk_or_a_pem(keys):
    assert verdict(keys=keys) == "Verified: every checked step passes"


@pytest.mark.parametrize("given", ["x", "sig1=()"])
def test_pem_without_a_named_key_is_read(given):
    assert verdict(request=f"GET / HTTP/1.1\nHost: a\nSignature-Input: {given}\n", keys=PEM).startswith("Rejected")


def test_request_without_keys_is_rejected_at_the_key():
    assert verdict(keys=" ").startswith("Rejected at step 7")


@pytest.mark.parametrize(
    "texts",
    [
        {"request": "\n"},
        {"request": "nothing s3cret"},
        {"request": "GET / HTTP/1.1\nHost: a\n" + "s3cret: s3cret\n" * 1000},
        {"keys": "s3cret"},
        {"keys": "[" * 100_000},
        {"keys": json.dumps(PRIVATE)},
        {"keys": json.dumps({"keys": "s3cret"})},
        {"keys": "-----BEGIN PUBLIC KEY-----\ns3cret\n-----END PUBLIC KEY-----"},
        {"origin": "s3cret"},
    ],
)
def test_what_cannot_be_used_is_named_and_not_quoted(texts):
    shown = show(**texts)[1]
    told = shown.partition('class="error">')[2].partition("</p>")[0]
    assert told
    assert "s3cret" not in told
    assert str(PRIVATE["d"]) not in told
    assert 'id="verdict"' not in shown


def test_command_serves_the_page_until_it_is_interrupted():
    # A shell lets the programs that it starts in the background ignore SIGINT, and they let theirs.
    start = "import signal; from undersigned.__main__ import main; signal.signal(2, signal.default_int_handler); main()"
    program = [sys.executable, "-c", start, "inspect"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:  # noqa: S603 - our own words
        try:
            url = running.stdout.readline().split()[1]
            running.stdout.readline()
            assert Visitor(url).ask()[0] == 200
            running.send_signal(signal.SIGINT)
            _, error = running.communicate(timeout=60)
        finally:
            running.kill()
    assert (running.returncode, error) == (0, "")


def test_command_names_the_option_if_the_port_is_in_use(visitor):
    result = CliRunner().invoke(command.inspect, ["--port", str(visitor.port)])
    assert (result.exit_code, "--port" in result.output) == (1, True)

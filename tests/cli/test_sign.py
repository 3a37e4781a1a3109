from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from tests.cli.command import GET, POST, REQUESTS, TEXT, URL, answers, invoke, lines, objects, run, usage_error
from tests.cli.conftest import KEYID

NONCE = "KXYnfEfJ0PBRZXQyVXfVQA"
FIXED = ("--created", "1776520800", "--nonce", NONCE)
PARAMETERS = f';created=1776520800;expires=1776521100;nonce="{NONCE}";keyid="{KEYID}";alg="ed25519"'


def test_request_gives_the_headers_to_add_and_the_base(keys):
    done = run("sign", "--key", keys.private, *FIXED, "-", stdin=lines(POST))
    [answer] = objects(done.stdout)
    assert (done.returncode, done.stderr, answer.keys()) == (0, b"", {"headers", "signature_base"})
    assert [name for name, _ in answer["headers"]] == ["Content-Digest", "Signature-Input", "Signature"]
    fields = dict(answer["headers"])
    assert fields["Signature-Input"].startswith('sig1=("@method" "@target-uri" "@authority" "content-type" ')
    assert PARAMETERS in fields["Signature-Input"]
    assert answer["signature_base"].splitlines()[:2] == ['"@method": POST', f'"@target-uri": {URL}']


def test_equal_requests_give_equal_bytes_with_body_or_body_b64(keys):
    other = {**POST, "headers": [["content-type", "application/json"]], "body_b64": "e30="}
    del other["body"]
    one, two, three = answers("sign", "--key", keys.private, *FIXED, "-", stdin=lines(POST, POST, other))
    assert one == two == three


def test_each_line_gets_a_new_nonce_unless_one_is_given_and_without_content_no_digest(keys):
    one, two = answers("sign", "--key", keys.private, "-", stdin=lines(GET, GET))
    assert one["signature_base"] != two["signature_base"]
    assert [name for name, _ in one["headers"]] == ["Signature-Input", "Signature"]


@pytest.mark.parametrize(
    ("request_", "options", "error"),
    [
        ({**GET, "url": "ftp://a.example"}, (), "target_uri_malformed"),
        ({**GET, "url": "\ud800"}, (), "target_uri_malformed"),
        ({**GET, "method": "get it"}, (), "request_not_signable"),
        ({**GET, "headers": {"Host": "other.example"}}, (), "request_not_signable"),
        ({**GET, "headers": {"a\n": "b"}}, (), "request_not_signable"),
        ({**GET, "headers": {"a": "b\r\nc: d"}}, (), "request_not_signable"),
        ({**POST, "headers": {"Content-Type": "\ud800"}}, (), "request_not_signable"),
        ({**POST, "headers": {}}, (), "request_not_signable"),
        (GET, ("--nonce", "short"), "request_not_signable"),
        (GET, ("--created", "999999999999999"), "request_not_signable"),
        (None, (), "line_malformed"),
        ({**POST, "body_b64": "e30="}, (), "line_malformed"),
    ],
)
def test_unsignable_request_gives_an_error_and_the_next_is_signed(request_, options, error, keys):
    rejected, *rest = answers("sign", "--key", keys.private, *options, "-", stdin=lines(request_, GET))
    assert (rejected.keys(), rejected["error"]) == ({"error", "message"}, error)
    assert rejected["message"]
    assert rest[0].keys() == ({"headers", "signature_base"} if not options else {"error", "message"})


@pytest.mark.parametrize("number", ["-1", "1e3", "9999999999999999", "soon", "nan", "1.5"])
def test_time_is_rejected_when_a_signature_cannot_contain_it(number, keys):
    for options in (("sign", "--key", keys.private, "--created"), ("verify", "--jwks", keys.public, "--now")):
        assert options[-1] in usage_error(*options, number, "-")


def show(keys, *args: str, stdin: bytes = b"") -> dict[str, str]:
    """Return the header fields that are written for one request."""
    result = invoke("sign", "--key", keys.private, *args, stdin=stdin)
    assert (result.exit_code, result.exception) == (0, None), result.output
    return dict(line.split(": ", 1) for line in result.stdout.splitlines())


def test_request_of_options_gives_the_same_fields_as_its_line(keys, tmp_path):
    [answer] = answers("sign", "--key", keys.private, *FIXED, "-", stdin=lines(POST))
    (tmp_path / "body").write_bytes(b"{}")
    for content in ("{}", f"@{tmp_path / 'body'}"):
        options = (*FIXED, "-X", "POST", "-H", "Content-Type: application/json", "-d", content)
        assert show(keys, *options, URL) == dict(answer["headers"])


def test_request_of_options_is_a_get_or_a_post_by_default(keys):
    [get] = answers("sign", "--key", keys.private, *FIXED, "-", stdin=lines(GET))
    assert show(keys, *FIXED, URL) == dict(get["headers"])
    [post] = answers("sign", "--key", keys.private, *FIXED, "-", stdin=lines({**GET, "method": "POST"}))
    assert show(keys, *FIXED, "-d", "", URL) == dict(post["headers"])


def test_content_type_of_json_is_added_and_written(keys):
    [answer] = answers("sign", "--key", keys.private, *FIXED, "-", stdin=lines(POST))
    made = show(keys, *FIXED, "-d", "@-", URL, stdin=b"{}")
    assert list(made) == ["Content-Type", "Content-Digest", "Signature-Input", "Signature"]
    assert made == {"Content-Type": "application/json", **dict(answer["headers"])}


def test_real_command_writes_the_fields_and_until_when_they_hold(keys, tmp_path):
    (tmp_path / "body").write_bytes(b"{}")
    environment = {**os.environ, "UNDERSIGNED_KEY": keys.private}
    done = run("sign", *FIXED, "-X", "POST", URL, "-d", "@body", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 4)
    assert [line.split(b":")[0] for line in done.stdout.splitlines()][-1] == b"Signature"
    until = b"This signature is for one request, which must arrive before 2026-04-18 14:05:00 UTC."
    assert done.stderr.strip() == until


def test_nothing_is_said_of_an_expiry_when_the_profile_has_none(keys):
    options = ("--profile", "ucp", "-H", 'UCP-Agent: profile="https://a.test"')
    assert invoke("sign", "--key", keys.private, *options, URL).stderr == ""


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("-d", "hello", URL), "the body is not JSON, so say what it is: -H 'Content-Type: ...'"),
        (("-d", '{"a": 1, "a": 2}', URL), "the body is not JSON"),
        (("-d", "@absent", URL), "'absent': No such file"),
        (("-H", "no colon", URL), "write a header as 'Name: value'"),
        (("-H", "Content-Length: 3", URL), "leave out Content-Length"),
        (("-H", "Host: other.example", URL), "Host"),
        (("-H", "a: b\r\nc: d", URL), "a"),
        (("-X", "get it", URL), "method"),
        (("ftp://a.example",), "URL"),
        (("seller.example.com/orders",), "URL"),
        (("-X", "GET", "-"), "- reads whole requests as JSON"),
        (("-H", "a: b", "-"), "- reads whole requests as JSON"),
        (("-d", "", "-"), "- reads whole requests as JSON"),
        (("--curl", "-"), "- reads whole requests as JSON"),
    ],
)
def test_request_of_options_that_cannot_be_signed_is_a_usage_error(args, told, keys):
    assert told in usage_error("sign", "--key", keys.private, *args)


@given(request_=REQUESTS)
def test_any_request_is_signed_or_rejected(request_, keys):
    [answer] = answers("sign", "--key", keys.private, "-", stdin=lines(request_))
    assert set(answer) in ({"headers", "signature_base"}, {"error", "message"})
    assert str(answer.get("message", "")).isprintable()


@given(nonce=TEXT)
def test_any_nonce_is_used_or_rejected(nonce, keys):
    [answer] = answers("sign", "--key", keys.private, f"--nonce={nonce}", "-", stdin=json.dumps(GET).encode())
    assert set(answer) in ({"headers", "signature_base"}, {"error", "message"})

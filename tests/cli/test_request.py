"""`undersigned request` against a real server with the middleware, and against sockets with prepared answers."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from tests.cli.command import invoke, run, usage_error
from tests.cli.conftest import KEYID, private_pem
from tests.cli.listener import listener, rejection
from tests.seller import selling_at

from undersigned.cli import http


@pytest.fixture(scope="module")
def origin(keys):
    with selling_at(keys.public) as url:
        yield url


def request(keys, *args: str, key: str = "private", code: int = 0) -> str:
    result = invoke("request", "--key", getattr(keys, key), *args)
    assert result.exit_code == code, result.output
    return result.stderr


def answer(keys, *args: str) -> dict:
    result = invoke("request", "--key", keys.private, *args)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def ok(body: bytes, head: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body)


def replied(response: bytes, keys, *args: str, received=None, path="/a", key: str = "private"):
    """Send a request to a server that answers with these bytes."""
    with listener(response, received) as port:
        return invoke("request", "GET", f"http://127.0.0.1:{port}{path}", *args, "--key", getattr(keys, key))


def get_reply(*args, code: int = 1, **options) -> str:
    """Return what is said of the answer of such a server."""
    result = replied(*args, **options)
    assert result.exit_code == code, result.output
    return result.stderr


def test_status_fields_and_content_are_shown(origin, keys, tmp_path):
    (tmp_path / "body").write_bytes(b'{"a": 1}')
    done = run("request", "--key", keys.private, "POST", f"{origin}/orders", "-d", "@body", cwd=tmp_path)
    head, content = done.stderr.decode(), done.stdout
    assert done.returncode == 0
    assert head.startswith("HTTP/1.1 200 OK\n")
    assert "\ncontent-type: application/json" in head
    arrived = json.loads(content)
    assert (arrived["method"], bytes.fromhex(arrived["body"])) == ("POST", b'{"a": 1}')
    assert dict(arrived["headers"])["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_every_method_is_verified(method, origin, keys):
    options = (method, f"{origin}/a%2Fb//c?x=[1]&y")
    assert request(keys, *options).startswith("HTTP/1.1 200 OK\n")
    if method != "HEAD":
        arrived = answer(keys, *options)
        assert (arrived["method"], arrived["target"]) == (method, "/a%2Fb//c?x=%5B1%5D&y")


def test_fields_of_options_are_sent_once_and_replace_our_own(origin, keys):
    options = ("-H", "User-Agent: mine", "-H", "Accept: text/html", "-H", f"Host: {origin.removeprefix('http://')}")
    arrived = answer(keys, "GET", origin, *options)["headers"]
    names = [name for name, _ in arrived]
    assert len(names) == len(set(names))
    assert (dict(arrived)["user-agent"], dict(arrived)["accept"]) == ("mine", "text/html")


def test_content_of_standard_input_and_a_key_in_pem_are_sent(origin, keys, tmp_path):
    (tmp_path / "key.pem").touch(0o600)
    (tmp_path / "key.pem").write_bytes(private_pem(keys.private))
    options = ("--key", str(tmp_path / "key.pem"), "--keyid", KEYID, "-d", "@-")
    result = invoke("request", *options, "POST", origin, stdin=b"[1]")
    assert (result.exit_code, bytes.fromhex(json.loads(result.stdout)["body"])) == (0, b"[1]")


def test_401_is_explained_by_its_code(origin, keys):
    shown = request(keys, "GET", origin, key="stranger", code=1)
    assert shown.startswith("HTTP/1.1 401 Unauthorized\n")
    assert "\nWhy: the server says request_signature_key_unknown: the server does not know this key\nFix: " in shown
    assert shown.endswith("\nTo see which check fails, give the keys that the server knows: --jwks FILE\n")


def test_401_is_explained_by_the_keys_of_the_server(origin, keys):
    shown = request(keys, "GET", origin, "--jwks", keys.public, key="stranger", code=1)
    assert "\nx  7  key lookup\n      request_signature_key_unknown: no key source knows the key ID\n" in shown
    cause = f"the request is signed with the key stranger, and the given keys are: {KEYID}, buyer-p256"
    assert f"\nCause: {cause}\n" in shown


def test_401_of_a_request_that_the_keys_verify_points_to_the_way(keys, tmp_path):
    other = tmp_path / "set"
    jwks = json.loads(Path(keys.public).read_text())
    [key] = [jwk for jwk in jwks["keys"] if jwk["kid"] == "buyer-p256"]
    other.write_text(json.dumps({"keys": [key]}))
    with selling_at(other) as origin:
        shown = request(keys, "GET", origin, "--jwks", keys.public, code=1)
    assert "\nx " not in shown
    assert "By these keys and the profile adcp-3.2, the request is valid as it was sent." in shown


def test_401_at_another_check_points_to_another_profile(keys):
    reply = rejection("request_signature_components_incomplete")
    shown = get_reply(reply, keys, "--jwks", keys.public, key="stranger")
    stops = "stops at another check than these keys do (signature_key_unknown)"
    assert shown.endswith(f"\nThe server {stops}: it has another profile or keys.\n")


def test_keys_of_the_server_in_pem_have_the_keyid_of_the_signature(origin, tmp_path):
    assert invoke("keygen", "--out", str(tmp_path)).exit_code == 0
    private = str(tmp_path / "private.jwk.json")
    key = serialization.load_pem_private_key(private_pem(private), None).public_key()
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    (tmp_path / "public.pem").write_bytes(key.public_bytes(serialization.Encoding.PEM, info))
    result = invoke("request", "--key", private, "--jwks", str(tmp_path / "public.pem"), "GET", origin)
    assert (result.exit_code, "the request is valid as it was sent" in result.stderr) == (1, True)


def test_redirect_is_shown_and_not_followed(keys):
    response = b"HTTP/1.1 302 Found\r\nLocation: /b?\x1b[31m\r\nContent-Length: 0\r\n\r\n"
    shown = get_reply(response, keys)
    assert shown.endswith("The redirect to /b?\\x1b[31m is not followed: a signature is for one URL only.\n")
    assert "\x1b" not in shown


@pytest.mark.parametrize(("status", "code"), [(200, 0), (204, 0), (299, 0), (302, 1), (400, 1), (404, 1), (500, 1)])
def test_exit_code_is_0_for_a_successful_status_only(status, code, keys):
    shown = get_reply(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode(), keys, code=code)
    assert shown == f"HTTP/1.1 {status} X\nContent-Length: 0\n"


def test_request_is_sent_as_it_was_signed(keys):
    received: list[bytes] = []
    get_reply(b"HTTP/1.1 200 OK\r\n\r\n", keys, code=0, received=received, path="/a/../%7Eb?#c")
    lines = received[0].decode().split("\r\n")
    assert lines[0] == "GET /~b? HTTP/1.1"
    names = [line.partition(":")[0].lower() for line in lines[1:-2]]
    assert sorted(names) == ["accept", "connection", "host", "signature", "signature-input", "user-agent"]


def test_401_of_another_layer_is_not_mistaken_for_a_signature(keys):
    shown = get_reply(b'HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm="a"\r\nContent-Length: 0\r\n\r\n', keys)
    assert "Why: the response has no code of a signature" in shown


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("request_signature_invalid", "Fix: run `undersigned doctor` to see what changes requests in transit"),
        ("request_target_uri_malformed", "; a proxy must forward Host unchanged: undersigned doctor\n"),
        ("request_signature_replayed", "Fix: sign each request again"),
        ("request_body_malformed", "Fix: send valid JSON, and write each key of an object once"),
        ("something_new", "Why: the server says something_new\n"),
    ],
)
def test_each_code_has_its_meaning(code, told, keys):
    assert told in get_reply(rejection(code), keys)


@pytest.mark.parametrize("code", ["request_target_uri_malformed", "request_signature_replayed"])
def test_check_that_keys_do_not_decide_is_not_explained_by_keys(code, keys):
    for options in ([], ["--jwks", keys.public]):
        assert get_reply(rejection(code), keys, *options).splitlines()[-1].startswith("Fix: ")


def test_code_is_explained_whatever_the_status_is(keys):
    reply = ok(b'{"error": "request_signature_store_unavailable"}').replace(b"200 OK", b"503 X")
    shown = get_reply(reply, keys)
    assert "Why: the server says request_signature_store_unavailable: the server's replay store" in shown


@pytest.mark.parametrize(("ahead", "side"), [(3600, "ahead of"), (-3600, "behind")])
def test_clock_of_the_server_decides_when_it_differs(ahead, side, keys):
    reply = rejection("request_signature_window_invalid", f"Date: {formatdate(time.time() + ahead, usegmt=True)}")
    shown = get_reply(reply, keys, "--jwks", keys.public)
    assert f" seconds {side} this one.\n" in shown
    assert "\nx  5  validity period\n" in shown


@pytest.mark.parametrize("date", ["soon", "Mon, 01 Jan 99999 00:00:00 GMT", ""])
def test_date_that_cannot_be_read_is_ignored(date, keys):
    assert "clock" not in get_reply(rejection("something_new", f"Date: {date}"), keys)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("GET", "seller.example.com/a"), "write all of it, such as https://"),
        (("GET", "ftp://seller.example.com/a"), "URL"),
        (("GET it", "https://a.test"), "method"),
        (("GET", "https://a.test", "-H", "Host: b.test"), "Host"),
        (("POST", "https://a.test", "-d", "text"), "so say what it is"),
        (("GET", "https://a.test", "--profile", "activitypub"), "activitypub"),
    ],
)
def test_request_that_cannot_be_sent_is_a_usage_error(args, told, keys):
    assert told in usage_error("request", "--key", keys.private, *args)


@pytest.mark.parametrize("rest", [b"Content-Length: 10\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"])
def test_content_that_ends_early_is_said_so(rest, keys):
    assert "ends early" in replied(b"HTTP/1.1 200 OK\r\n" + rest, keys).stderr


def test_answer_that_comes_before_the_content_is_read_is_shown(keys, tmp_path):
    content = tmp_path / "content"
    content.write_bytes(bytes(16_777_216))
    with listener(rejection("request_signature_required")) as port:
        url, kind = f"http://127.0.0.1:{port}/a", "Content-Type: application/octet-stream"
        shown = request(keys, "POST", url, "-H", kind, "--data", f"@{content}", code=1)
    assert "the server says request_signature_required" in shown


def test_another_key_under_the_same_kid_is_named(tmp_path, keys):
    assert invoke("keygen", "--kid", KEYID, "--out", str(tmp_path)).exit_code == 0
    shown = get_reply(rejection("request_signature_invalid"), keys, "--jwks", str(tmp_path / "public.jwks.json"))
    assert f"Cause: the key {KEYID} of --jwks is not the public half of --key" in shown
    assert (shown.count("Cause: "), "No cause found" in shown) == (1, False)


def test_another_profile_than_the_servers_does_not_contradict_the_server(keys):
    shown = get_reply(rejection("request_signature_tag_invalid"), keys, "--profile", "gnap", "--jwks", keys.public)
    assert "Why: the server says request_signature_tag_invalid: the server expects another tag\n" in shown
    assert "The server therefore has other keys, another profile" in shown
    assert "+  3  tag" not in shown


@pytest.mark.parametrize("answer", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_answer_that_does_not_end_is_ended(answer, keys, monkeypatch):
    monkeypatch.setattr(http, "_TIMES", 1)
    with socket.create_server(("127.0.0.1", 0)) as bound:

        def serve() -> None:
            connection, _ = bound.accept()
            with contextlib.suppress(OSError), connection:
                connection.sendall(answer)
                while True:
                    connection.sendall(answer if b"100" in answer else b"x")
                    time.sleep(0.01)

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        result = invoke("request", "GET", url, "--key", keys.private, "--timeout", "1")
    assert result.exit_code == 1
    assert result.stderr.endswith(f"Error: {url}: no response: the response did not end in 1 seconds\n")


def test_content_is_cleaned_for_a_terminal_alone(keys, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    result = replied(ok("\x1b]0;owned\x07grün\n\t".encode()), keys)
    assert (result.exit_code, result.stdout) == (0, "\\x1b]0;owned\\x07grün\n\t")


def test_content_alone_is_on_standard_output(keys):
    body = bytes(range(256)) * 1024
    result = replied(ok(body, b"X-A: \x1b[31m\r\n"), keys)
    assert (result.exit_code, result.stdout_bytes) == (0, body)
    assert result.stderr == f"HTTP/1.1 200 OK\nX-A: \\x1b[31m\nContent-Length: {len(body)}\n"


def test_reader_of_the_content_may_have_enough_of_it(keys):
    with listener(ok(b"x\n" * 500_000)) as port:
        options = ("GET", f"http://127.0.0.1:{port}/", "--key", keys.private)
        command = [sys.executable, "-m", "undersigned", "request", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:  # noqa: S603 - ours
            assert running.stdout.readline() == b"x\n"
            running.stdout.close()
            said = running.stderr.read()
    assert (running.returncode, said) == (0, b"HTTP/1.1 200 OK\nContent-Length: 1000000\n")

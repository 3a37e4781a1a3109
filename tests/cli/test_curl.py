"""The curl commands of `undersigned sign --curl`: run by bash and curl against a real server with the middleware."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest
from tests.cli.command import invoke, usage_error
from tests.seller import selling_at

pytestmark = [
    pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are for bash"),
    pytest.mark.skipif(shutil.which("curl") is None, reason="the commands are for curl"),
]
TEXT = "Content-Type: text/plain"


@pytest.fixture(scope="module")
def origin(keys):
    with selling_at(keys.public) as url:
        yield url


def command(*args: str, stdin: bytes = b"") -> str:
    result = invoke("sign", "--curl", *args, stdin=stdin)
    assert (result.exit_code, result.exception) == (0, None), result.output
    assert result.stderr.startswith("This signature is for one request, which must arrive before ")
    return result.stdout


def bash(text: str, *more: str, cwd=None) -> tuple[int, dict]:
    """Run a command in bash, as if it were pasted, and return the status and the answer."""
    script = text.rstrip("\n") + " " + " ".join(("--silent", "--show-error", "--write-out", "'\\n%{http_code}'", *more))
    options = {"cwd": cwd, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}, "capture_output": True, "timeout": 60}
    done = subprocess.run(["/bin/bash", "--norc"], input=script.encode("ascii"), check=False, **options)
    assert done.stderr == b""
    content, _, status = done.stdout.decode().rpartition("\n")
    return int(status), json.loads(content or "null")


@pytest.mark.parametrize(
    ("options", "stdin"),
    [
        *(
            (("-d", content), content.encode())
            for content in ('{"a": 1}', '"it\'s"', '"$HOME `id` \\\\ \\" !! {a,b} *"', '{"a": "#&;|<>"}', ' ""')
        ),
        (("-d", "@-"), b'{"a": 1}'),
        (("-H", TEXT, "-d", "@-"), b"@/etc/hostname"),
    ],
)
def test_content_arrives_as_it_was_given(options, stdin, origin, keys):
    status, answer = bash(command("--key", keys.private, *options, f"{origin}/orders", stdin=stdin))
    assert (status, answer["method"], bytes.fromhex(answer["body"])) == (200, "POST", stdin)


@pytest.mark.parametrize("name", ["body.json", "it's a body", "-", "a;b$(id)"])
def test_content_of_a_file_is_read_from_the_file_again(name, origin, keys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b'{"a": 1}\r\n')
    given_name = f"./{name}" if name == "-" else name
    text = command("--key", keys.private, "-d", f"@{given_name}", f"{origin}/orders")
    assert "--data-binary" in text
    status, answer = bash(text, cwd=tmp_path)
    assert (status, bytes.fromhex(answer["body"])) == (200, b'{"a": 1}\r\n')
    (tmp_path / name).write_bytes(b'{"a": 2}\r\n')
    changed = command("--key", keys.private, "-d", f"@{given_name}", f"{origin}/orders")
    (tmp_path / name).write_bytes(b'{"a": 3}\r\n')
    assert bash(changed, cwd=tmp_path)[0] == 401


def test_binary_content_of_a_large_file_arrives_as_it_is(origin, keys, tmp_path):
    (tmp_path / "body").write_bytes(bytes(range(256)) * 3000)
    text = command("--key", keys.private, "-H", TEXT, "-d", f"@{tmp_path}/body", f"{origin}/")
    status, answer = bash(text)
    assert (status, len(answer["body"])) == (200, 2 * 256 * 3000)


@pytest.mark.parametrize("options", [("-d", '{"a":\n1}'), ("-d", '"\u00e9"'), ("-H", "x-name: \u00e9")])
def test_text_that_is_not_printable_ascii_must_be_in_a_file(options, keys):
    assert "-d @FILE" in usage_error("sign", "--key", keys.private, *options, "--curl", "https://a.test")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "POST"])
def test_request_without_content_has_its_method(method, origin, keys):
    status, answer = bash(command("--key", keys.private, "-X", method, f"{origin}/orders"))
    assert (status, answer["method"], answer["body"]) == (200, method, "")


def test_head_is_sent_without_waiting_for_content(origin, keys):
    text = command("--key", keys.private, "-X", "HEAD", f"{origin}/orders")
    assert bash(text, "--output", "/dev/null") == (200, None)
    said = usage_error("sign", "--key", keys.private, "--curl", "-X", "HEAD", "-d", "{}", origin)
    assert "HEAD request with a body" in said


@pytest.mark.parametrize(
    ("spelled", "arrives"),
    [
        ("/a%2Fb//c?x=%5B1%5D&y=%7Ba,b%7D&z=a+b%20c", "/a%2Fb//c?x=%5B1%5D&y=%7Ba,b%7D&z=a+b%20c"),
        ("/a/./b/../c?q=/../x#top", "/a/c?q=/../x"),
        ("/%7Euser;a=b/.hidden?", "/~user;a=b/.hidden"),
        ("/it's/$HOME/(a)*", "/it's/$HOME/(a)*"),
        ("", "/"),
    ],
)
def test_target_arrives_as_it_was_signed(spelled, arrives, origin, keys):
    status, answer = bash(command("--key", keys.private, f"{origin}{spelled}"))
    assert (status, answer["target"]) == (200, arrives)


def test_header_fields_arrive_as_they_were_given(origin, keys):
    given_fields = {"x-quotes": 'it\'s "$HOME" `id` \\ !!', "x-empty": "", "x-at": "@/etc/passwd", "user-agent": "mine"}
    options = [word for name, value in given_fields.items() for word in ("-H", f"{name}: {value}")]
    status, answer = bash(command("--key", keys.private, *options, f"{origin}/"))
    arrived = dict(answer["headers"])
    assert status == 200
    assert {name: arrived[name] for name in given_fields} == given_fields


def test_interactive_bash_replaces_nothing(origin, keys):
    """History expansion and completion are on when a person pastes a command."""
    content = '{"a": "!!x", "b": "it\'s!1"}'
    text = command("--key", keys.private, "-d", content, f"{origin}/")
    script = f"set -H\ntrue\n{text.rstrip()} --silent\nexit\n".encode("ascii")
    done = subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", "-i"], input=script, capture_output=True, check=False, timeout=60
    )
    assert bytes.fromhex(json.loads(done.stdout)["body"]) == content.encode()

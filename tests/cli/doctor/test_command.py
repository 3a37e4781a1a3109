"""The doctor's command, against a real server in this process."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.command import invoke, objects, run
from tests.cli.route import Route
from tests.serving import waitress_server

from undersigned import KeyPair, KeySet, MemoryReplayStore, VerificationKey, Verifier, profiles
from undersigned.wsgi import SignatureMiddleware


def application(_environ, start_response):
    start_response("404 Not Found", [("Content-Length", "0")])
    return []


class Seller:
    """An application with the middleware. Its origin is known only when its port is known."""

    def __init__(self, keys, *, scheme: str = "http") -> None:
        self.keys = json.loads(Path(keys.public).read_text())
        self.scheme = scheme
        self.app = None

    def on(self, port: int) -> str:
        verifier = Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(self.keys), replay=MemoryReplayStore())
        origin = f"{self.scheme}://127.0.0.1:{port}"
        self.app = SignatureMiddleware(application, verifier=verifier, origins=[origin])
        return f"http://127.0.0.1:{port}"

    def __call__(self, environ, start_response):
        return self.app(environ, start_response)


@pytest.fixture
def url(keys):
    seller = Seller(keys)
    with waitress_server(seller) as port:
        yield seller.on(port)


@pytest.fixture
def mistaken(keys):
    seller = Seller(keys, scheme="https")
    with waitress_server(seller) as port:
        yield seller.on(port)


def test_unchanged_requests_are_reported_with_exit_0(url, keys):
    done = run("doctor", "--key", keys.private, url)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith(f"{url}: ")
    assert lines[-1] == "No problems found: requests arrive as they were signed."
    assert "  ok       a question mark without a query" in lines


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH"])
@pytest.mark.parametrize("key", ["private", "ecdsa"])
def test_every_method_and_algorithm_works(method, key, url, keys):
    result = invoke("doctor", "--key", getattr(keys, key), "--method", method, "--json", f"{url}/adcp/")
    [diagnosis] = objects(result.stdout_bytes)
    assert (result.exit_code, diagnosis["unchanged"], diagnosis["findings"]) == (0, True, [])
    assert diagnosis["url"] == f"{url}/adcp"
    assert ("content in chunks" in diagnosis["passed"]) == (method in {"POST", "PUT", "PATCH"})


def test_finding_is_written_with_its_fix_and_exit_1(mistaken, keys):
    result = invoke("doctor", "--key", keys.private, mistaken)
    assert result.exit_code == 1
    assert "PROBLEM  scheme: the middleware sees requests to http as requests to https" in result.stdout
    assert result.stdout.endswith("How to fix:\n  scheme: write http:// in origins=, the scheme that clients use\n")


def test_finding_in_json_has_all_members(mistaken, keys):
    result = invoke("doctor", "--key", keys.private, "--json", mistaken)
    [diagnosis] = objects(result.stdout_bytes)
    assert (result.exit_code, diagnosis["unchanged"]) == (1, False)
    [finding] = diagnosis["findings"]
    assert finding.keys() == {"check", "problem", "advice", "sent", "arrives"}
    assert diagnosis.keys() == {
        "unchanged",
        "profile",
        "url",
        "requests",
        "passed",
        "findings",
        "notes",
    }


def test_targets_are_written_below_a_finding_and_notes_at_the_end(monkeypatch, keys):
    route = Route(
        lambda probe: replace(probe, target=probe.target.replace("//", "/")),
        origins=("http://127.0.0.1",),
        options={"mode": "optional", "verifier": _verifier(keys)},
    )
    monkeypatch.setattr("undersigned.cli.doctor.command.ask", lambda _site, probe, **_options: route.ask(probe))
    result = invoke("doctor", "--key", keys.private, "http://127.0.0.1")
    lines = result.stdout.splitlines()
    at = lines.index("  PROBLEM  repeated slashes: the slashes are merged")
    assert lines[at + 1 : at + 3] == [
        "           sent:    /undersigned-doctor/a//b",
        "           arrives: /undersigned-doctor/a/b",
    ]
    assert lines[at + 3].startswith("  note     an unsigned request is answered with 404;")


def test_exit_is_1_when_the_server_gives_no_answer(keys):
    with socket.create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    result = invoke("doctor", "--key", keys.private, url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{url}/: no answer: the connection is refused: nothing listens at ")
    result = invoke("doctor", "--key", keys.private, "--json", url)
    [answer] = objects(result.stdout_bytes)
    assert (answer["url"], answer["error"]) == (f"{url}/", "no_answer")
    assert "is refused" in answer["message"]
    assert result.exit_code == 1


def test_unknown_key_is_reported(url, keys):
    result = invoke("doctor", "--key", keys.stranger, url)
    assert result.exit_code == 1
    assert "the server does not know this key" in result.stdout


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["https://a.example"], "--key"),
        (["--key", "PRIVATE"], "URL"),
        (["--key", "PRIVATE", "ftp://a.example"], "URL"),
        (["--key", "PRIVATE", "a.example"], "URL"),
        (["--key", "PRIVATE", "https://a.example/p?x=1"], "scheme, host and path only"),
        (["--key", "PRIVATE", "https://a.example/p?"], "scheme, host and path only"),
        (["--key", "PRIVATE", "https://a.example/p#x"], "scheme, host and path only"),
        (["--key", "PRIVATE", "https://me@a.example/"], "URL"),
        (["--key", "PRIVATE", "--method", "DELETE", "https://a.example"], "--method"),
        (["--key", "PRIVATE", "--timeout", "0", "https://a.example"], "--timeout"),
        (["--key", "PRIVATE", "--timeout", "601", "https://a.example"], "--timeout"),
        (["--key", "PRIVATE", "--ca-file", "PRIVATE", "https://a.example"], "--ca-file"),
        (["--key", "PRIVATE", "--profile", "adcp-1", "https://a.example"], "--profile"),
        (["--key", "PRIVATE", "--header", "no colon", "https://a.example"], "--header"),
        (["--key", "PRIVATE", "--profile", "wimse", "https://a.example"], "workload-identity-token"),
        (["--key", "PUBLIC", "https://a.example"], "--key"),
    ],
)
def test_wrong_usage_is_exit_2_and_names_the_fault(args, named, keys):
    files = {"PRIVATE": keys.private, "PUBLIC": keys.public}
    result = invoke("doctor", *[files.get(arg, arg) for arg in args])
    assert (result.exit_code, result.stdout) == (2, "")
    assert named in result.stderr


def test_key_is_a_usage_error_when_it_cannot_sign_for_the_profile(tmp_path, keys):
    jwk = json.loads(Path(keys.private).read_text()) | {"adcp_use": "webhook-signing"}
    (tmp_path / "key.json").write_text(json.dumps(jwk))
    result = invoke("doctor", "--key", str(tmp_path / "key.json"), "--profile", "adcp-3.2", "https://a.example")
    assert result.exit_code == 2
    assert "adcp_use" in result.stderr


FIELDS = {
    "web-bot-auth-typed": ['Signature-Agent: sig1="https://bot.example"'],
    "ucp": ['UCP-Agent: profile="https://platform.example/.well-known/ucp"'],
    "ucp-dual": [
        'Signature-Agent: sig1="https://bot.example"',
        'UCP-Agent: profile="https://platform.example/.well-known/ucp"',
    ],
    "fapi-2-request": ["Authorization: Bearer t"],
    "wimse": ["Workload-Identity-Token: e30.e30.c2ln"],
}
TRIED = [name for name in profiles.BY_NAME if profiles.BY_NAME[name].message == "request" and name != "activitypub"]


class OneKey:
    """A source that finds one key, whatever the signature calls it."""

    blocking = False

    def __init__(self, key) -> None:
        self.key = key

    def find(self, _lookup):
        return (self.key,)


@pytest.mark.parametrize("name", TRIED)
def test_requests_by_every_profile_arrive(name, tmp_path):
    pair = KeyPair.generate()
    public, private = pair.public["keys"][0], dict(pair.private)
    if name == "adcp-webhook":
        public, private = public | {"adcp_use": ["webhook-signing"]}, private | {"adcp_use": ["webhook-signing"]}
    (tmp_path / "key.json").write_text(json.dumps(private))
    source = OneKey(VerificationKey.from_jwk(public))
    verifier = Verifier(profiles.BY_NAME[name], keys=source, replay=MemoryReplayStore())
    route = Seller.__new__(Seller)
    with waitress_server(route) as port:
        url = f"http://127.0.0.1:{port}"
        route.app = SignatureMiddleware(application, verifier=verifier, origins=[url])
        headers = [
            argument for field in FIELDS.get(name.replace("-jwks", "-typed"), ()) for argument in ("--header", field)
        ]
        result = invoke(
            "doctor",
            "--key",
            str(tmp_path / "key.json"),
            "--method",
            "POST",
            "--profile",
            name,
            "--json",
            *headers,
            url,
        )
    [diagnosis] = objects(result.stdout_bytes)
    assert (diagnosis["profile"], diagnosis["findings"]) == (name, [])


def _verifier(keys) -> Verifier:
    jwks = json.loads(Path(keys.public).read_text())
    return Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(jwks), replay=MemoryReplayStore())

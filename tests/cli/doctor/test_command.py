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
from undersigned.activitypub import ActivityPubVerifier
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
        "intermediaries",
        "http2",
    }


def test_targets_are_written_below_a_finding_and_notes_at_the_end(monkeypatch, keys):
    route = Route(
        lambda probe: replace(probe, target=probe.target.replace("//", "/")),
        origins=("http://127.0.0.1",),
        options={"mode": "optional", "verifier": _verifier(keys)},
    )
    monkeypatch.setattr("undersigned.cli.doctor.probe.ProbeClient.ask", lambda _self, probe: route.ask(probe))
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
    assert result.stderr == f"{url}/: no answer: Connection refused\n"
    result = invoke("doctor", "--key", keys.private, "--json", url)
    [answer] = objects(result.stdout_bytes)
    assert answer == {"url": f"{url}/", "error": "no_answer", "message": "Connection refused"}
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
    "aauth": ['Signature-Key: sig=jwt;jwt="e30"'],
}
TRIED = [
    name
    for name in profiles.BY_NAME
    if profiles.BY_NAME[name].message == "request" and name not in {"activitypub", "gnap-rotation"}
]
ALIKE = {"web-bot-auth-jwks": "web-bot-auth-typed"}


class OneKey:
    """A source that finds one key, whatever the signature calls it."""

    blocking = False

    def __init__(self, key) -> None:
        self.key = key

    def find(self, _lookup):
        return (self.key,)


@pytest.mark.parametrize("name", TRIED)
def test_profile_of_the_server_is_guessed_and_its_requests_arrive(name, tmp_path):
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
        headers = [argument for field in FIELDS.get(ALIKE.get(name, name), ()) for argument in ("--header", field)]
        result = invoke("doctor", "--key", str(tmp_path / "key.json"), "--method", "POST", "--json", *headers, url)
    [diagnosis] = objects(result.stdout_bytes)
    assert (diagnosis["profile"], diagnosis["findings"]) == (ALIKE.get(name, name), [])


class Inbox(Seller):
    """An inbox that verifies ActivityPub requests of both schemes, or of the older one only."""

    def __init__(self, keys, *, only_draft: bool) -> None:
        self.verifier = ActivityPubVerifier(keys=OneKey(keys), required=("(request-target)", "host"))
        self.only_draft = only_draft

    def on(self, port: int) -> str:
        url = f"http://127.0.0.1:{port}"
        self.app = SignatureMiddleware(application, verifier=self.verifier, origins=[url])
        return url

    def __call__(self, environ, start_response):
        if self.only_draft and "HTTP_SIGNATURE_INPUT" in environ:
            start_response("401 No", [("Content-Length", "0")])
            return []
        return self.app(environ, start_response)


@pytest.fixture
def actor(tmp_path):
    pair = KeyPair.generate("rsa-v1_5-sha256", keyid="https://social.example/users/bob#main-key")
    (tmp_path / "actor.json").write_text(json.dumps(pair.private))
    [key] = pair.key_set().keys.values()
    return key, str(tmp_path / "actor.json")


@pytest.mark.parametrize(("only_draft", "name"), [(True, "draft-cavage-12"), (False, "activitypub")])
def test_scheme_of_an_inbox_is_guessed_and_its_requests_arrive(actor, only_draft, name):
    inbox = Inbox(actor[0], only_draft=only_draft)
    with waitress_server(inbox) as port:
        result = invoke("doctor", "--key", actor[1], "--method", "POST", "--json", inbox.on(port))
    [diagnosis] = objects(result.stdout_bytes)
    assert (result.exit_code, diagnosis["profile"], diagnosis["findings"]) == (0, name, [])
    assert any("does not sign the URL's scheme" in note for note in diagnosis["notes"]) == only_draft


def test_inbox_of_the_older_scheme_only_is_found_after_the_findings(actor):
    inbox = Inbox(actor[0], only_draft=True)
    with waitress_server(inbox) as port:
        result = invoke("doctor", "--key", actor[1], "--profile", "activitypub", inbox.on(port))
    assert result.exit_code == 1
    assert "  note     requests by the profile draft-cavage-12 are accepted: --profile draft-cavage-12" in result.stdout


def test_inbox_that_has_another_key_is_a_finding_by_the_older_scheme(actor):
    inbox = Inbox(actor[0], only_draft=True)
    with waitress_server(inbox) as port:
        url = inbox.on(port)
        given = ["--key", actor[1], "--profile", "draft-cavage-12"]
        assert invoke("doctor", *given, url).exit_code == 0
        other = KeyPair.generate("rsa-v1_5-sha256", keyid=actor[0].keyid)
        [key] = other.key_set().keys.values()
        inbox.verifier = ActivityPubVerifier(keys=OneKey(key))
        inbox.on(port)
        result = invoke("doctor", *given, url)
    assert result.exit_code == 1
    assert "PROBLEM  a plain request" in result.stdout


def test_key_that_cannot_sign_by_the_older_scheme_is_a_usage_error(keys):
    result = invoke("doctor", "--key", keys.private, "--profile", "draft-cavage-12", "https://a.example")
    assert (result.exit_code, "RSA" in result.stderr) == (2, True)


def test_other_profile_that_is_accepted_is_named_after_the_findings(url, keys):
    result = invoke("doctor", "--key", keys.private, "--profile", "gnap", url)
    assert result.exit_code == 1
    assert "  note     requests by the profile adcp-3.2 are accepted: --profile adcp-3.2" in result.stdout


def test_no_other_profile_is_named_when_the_key_is_unknown(url, keys):
    result = invoke("doctor", "--key", keys.stranger, "--profile", "adcp-3.2", url)
    assert (result.exit_code, "note" in result.stdout) == (1, False)


def _verifier(keys) -> Verifier:
    jwks = json.loads(Path(keys.public).read_text())
    return Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(jwks), replay=MemoryReplayStore())

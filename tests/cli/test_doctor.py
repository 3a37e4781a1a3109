"""The doctor's command, over routes that change requests, and against sockets with prepared answers."""

from __future__ import annotations

import itertools
import json
import ssl
from dataclasses import replace
from pathlib import Path
from socket import create_server

import pytest
from tests import keys as parties
from tests.cli.command import invoke, objects, run, usage_error
from tests.cli.listener import listener
from tests.cli.route import Answer, Route

from undersigned import KeyPair, MemoryReplayStore, Policy, VerificationKey, Verifier, profiles, same_url
from undersigned.cli.doctor.spellings import JSON, REWRITTEN, SPELLINGS

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
LOG = "see the log of the logger `undersigned`"
CHECKS = 14

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


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> str:
    return _key_file(tmp_path_factory.mktemp("key"), parties.PRIVATE)


def _key_file(directory: Path, jwk) -> str:
    path = directory / "key.json"
    path.touch(0o600)
    path.write_text(json.dumps(jwk))
    return str(path)


def diagnosis(route: Route, key: str, *args: str, path: str = "") -> dict:
    """Ask the doctor about a route."""
    with route.running() as url:
        result = invoke("doctor", "--key", key, "--json", *args, f"{url}{path}")
    [found] = objects(result.stdout_bytes)
    assert (result.exit_code, found["unchanged"]) == (int(bool(found["findings"])), not found["findings"])
    assert found["requests"] == len(route.sent)
    return found


def finding(route: Route, key: str, *args: str, path: str = "") -> dict:
    """Ask the doctor about a route, and return the only finding."""
    [found] = diagnosis(route, key, *args, path=path)["findings"]
    return found


def rewriting(arrivals):
    """Return a change that makes targets, after any prefix, arrive as others."""

    def change(arrived):
        start, mark, end = arrived.target.partition("/undersigned-doctor")
        return replace(arrived, target=f"{start}{mark}{arrivals.get(end, end)}")

    return change


def without(*names: str):
    return lambda arrived: replace(arrived, fields=[field for field in arrived.fields if field[0] not in names])


@pytest.mark.parametrize(
    ("path", "method"), [("", "GET"), ("/", "HEAD"), ("/adcp/v1", "POST"), ("/api/", "PUT"), ("", "PATCH")]
)
def test_route_without_changes_has_no_findings(path, method, key):
    route = Route()
    found = diagnosis(route, key, "--method", method, path=path)
    assert (found["findings"], found["notes"]) == ([], [])
    assert found["url"] == f"http://{route.authority}{path}".rstrip("/")
    assert found["passed"][0] == "scheme, Host and prefix"
    has_content = method in {"POST", "PUT", "PATCH"}
    assert ("content in chunks" in found["passed"]) == has_content
    assert len(set(found["passed"])) == len(found["passed"]) == CHECKS + 2 * has_content
    assert {arrived.method for arrived in route.sent} == ({"GET", method} if has_content else {method})
    assert all(arrived.target.startswith(f"{path.rstrip('/')}/undersigned-doctor/") for arrived in route.sent)
    assert {arrived.host for arrived in route.sent} == {route.authority}


@pytest.mark.parametrize("status", ["200 OK", "204 No Content", "301 Moved", "404 Not Found", "405 No", "500 Oh"])
def test_any_status_of_the_application_is_enough(status, key):
    assert diagnosis(Route(status=status), key)["findings"] == []


@pytest.mark.parametrize("turn", range(max(len(one.rewritings) for one in SPELLINGS)))
def test_known_rewriting_is_named_with_the_target_that_arrives(turn, key):
    changed = [one for one in SPELLINGS if one.rewritings]
    chosen = [list(one.rewritings.items())[turn % len(one.rewritings)] for one in changed]
    arrivals = {one.target: arrives for one, (arrives, _) in zip(changed, chosen, strict=True)}
    found = diagnosis(Route(rewriting(arrivals)), key)["findings"]
    assert [(one["check"], one["problem"]) for one in found] == [
        (one.name, problem) for one, (_, problem) in zip(changed, chosen, strict=True)
    ]
    assert [one["sent"] for one in found] == [f"/undersigned-doctor{target}" for target in arrivals]
    assert [one["arrives"] for one in found] == [f"/undersigned-doctor{arrives}" for arrives in arrivals.values()]
    assert not any(same_url(f"https://a.example{one}", f"https://a.example{two}") for one, two in arrivals.items())


def test_unknown_rewriting_is_reported_and_refers_to_the_log(key):
    found = diagnosis(Route(rewriting({one.target: "/else/where" for one in SPELLINGS})), key)["findings"]
    assert [one["check"] for one in found] == [one.name for one in SPELLINGS]
    assert {one["problem"] for one in found} == {"it arrives changed in an unknown way"}
    assert all(f". Or {LOG}" in one["advice"] for one in found)


@pytest.mark.parametrize(
    ("status", "words"), [(400, "400, before it is verified"), (302, "redirected (302)"), (502, "502")]
)
def test_spelling_is_reported_as_not_verified_when_something_else_answers(status, words, key):
    route = Route(lambda arrived: Answer(status) if "%2F" in arrived.target else arrived)
    found = diagnosis(route, key)["findings"][0]
    assert (found["check"], found["sent"]) == ("an encoded slash", "/undersigned-doctor/a%2Fb")
    assert words in found["problem"]


def test_spelling_without_an_answer_is_reported_and_the_next_is_examined(key):
    found = diagnosis(Route(lambda arrived: None if "//" in arrived.target else arrived), key)
    [one] = found["findings"]
    assert one["problem"].startswith("no response: ")
    assert "a question mark without a query" in found["passed"]


def on_slashes(answer: Answer):
    """Return a change that answers a request for repeated slashes."""
    return {"change": lambda arrived: answer if "//" in arrived.target else arrived}


def at_host(host: str) -> dict:
    return {"change": lambda arrived: replace(arrived, host=host)}


SCHEME, PLAIN = "sees requests to http as requests to https", "a plain request"
FINDINGS = {
    "another scheme": ({"origins": ("https://HOST",)}, "", "scheme", SCHEME, "write http:// in origins="),
    "a prefix that is stripped": (
        {"prefix": "/api"}, "/api/v1", "prefix", "/api is stripped", 'add the prefix: origins=["http://HOST/api"]'
    ),
    "a prefix that no proxy strips": (
        {"origins": ("http://HOST/api",)}, "/api/v1", "prefix", "adds /api to a path that already has it",
        "server_adds_root_path=True",
    ),
    "an origin without the port": (
        {"origins": ("http://127.0.0.1",)}, "/api", "Host", "without the port", 'add the port: origins=["http://HOST"]'
    ),
    **{
        f"another host: {host}": (at_host(host), "", "Host", ", or origins= lacks", "forward Host unchanged")
        for host in ("127.0.0.1:8000", "app", "user@app", "")
    },
    "another path": (
        {"change": lambda arrived: replace(arrived, target=f"/inner{arrived.target}")}, "", PLAIN,
        "another key with this kid", LOG,
    ),
    "raw bytes": ({"change": rewriting({"/caf%C3%A9": "/caf\xe9"})}, "", "encoded UTF-8", "decoded to raw bytes", ""),
    "a replay": (
        on_slashes(Answer.rejection("request_signature_replayed")), "", "repeated slashes", "seen this nonce before",
        "sign each request again",
    ),
    "a code that nobody knows": (
        on_slashes(Answer.rejection("signature_unheard_of")), "", "repeated slashes",
        "it is rejected: signature_unheard_of", LOG,
    ),
    "no signature": (
        {"change": without("Signature", "Signature-Input")}, "", PLAIN,
        "no Signature and Signature-Input headers arrived", "sign the request",
    ),
    # The doctor does not advise to ask the doctor.
    "half a signature": ({"change": without("Signature")}, "", PLAIN, "only one of them arrived", LOG),
    "content that was added": (
        {"change": lambda arrived: replace(arrived, content=b"added")}, "", PLAIN, "expects more covered components",
        "--profile",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("options", "path", "check", "problem", "advice"), FINDINGS.values(), ids=FINDINGS)
def test_finding_is_named_with_its_fix(options, path, check, problem, advice, key):
    route = Route(**options)
    found = finding(route, key, path=path)
    assert (found["check"], found["arrives"]) == (check, "")
    assert problem in found["problem"]
    assert advice.replace("HOST", route.authority) in found["advice"]
    assert "undersigned doctor" not in found["advice"]


def test_lost_port_is_reported_when_the_bare_host_is_also_an_origin(key):
    route = Route(lambda arrived: replace(arrived, host="127.0.0.1"), origins=("http://127.0.0.1",))
    found = finding(route, key)
    assert (found["check"], found["sent"], found["arrives"]) == ("Host", route.authority, "127.0.0.1")
    assert found["advice"].startswith("forward Host unchanged")


def test_several_mistakes_are_reported_together_the_fewest_that_explain_it(key):
    route = Route(lambda arrived: replace(arrived, host="127.0.0.1"), origins=("https://127.0.0.1",), prefix="/api")
    found = diagnosis(route, key, path="/api")["findings"]
    assert [one["check"] for one in found] == ["scheme", "Host", "prefix"]


def test_examination_ends_when_the_key_is_unknown(tmp_path):
    route = Route()
    found = diagnosis(route, _key_file(tmp_path, parties.OTHER_PRIVATE))
    assert [one["problem"] for one in found["findings"]] == ["the server does not know this key"]
    assert found["requests"] == 2


def test_wrong_profile_is_reported(key):
    assert finding(Route(), key, "--profile", "adcp-3.1")["check"] == "a plain request"


@pytest.mark.parametrize(
    ("answer", "words"),
    [(Answer(404), "404, before it is verified"), (Answer(307), "redirected"), (Answer(503), "503")],
)
def test_examination_ends_when_no_verifier_answers(answer, words, key):
    found = diagnosis(Route(lambda _arrived: answer), key)
    assert words in found["findings"][0]["problem"]
    assert (found["requests"], len(found["findings"])) == (3, 1)


@pytest.mark.parametrize("mode", ["optional", "observe"])
def test_mode_that_accepts_unsigned_requests_is_a_note_and_not_a_finding(mode, key):
    found = diagnosis(Route(mode=mode), key)
    assert found["findings"] == []
    assert "an unsigned request is answered with 404;" in found["notes"][0]


def test_rejection_by_the_policy_after_a_valid_signature_is_not_a_finding(key):
    policy = Policy(required_for=["create_media_buy"])
    assert diagnosis(Route(policy=policy), key, "--method", "POST")["findings"] == []
    decoding = Route(rewriting({"/a%2F..%2Fb": "/b"}), policy=policy)
    assert finding(decoding, key)["check"] == "dots between encoded slashes"


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(("arrives", "problem"), REWRITTEN.items())
def test_known_change_of_content_is_named(arrives, problem, chunked, key):
    def change(arrived):
        is_it = arrived.content == JSON and arrived.chunked == chunked
        return replace(arrived, content=arrives) if is_it else arrived

    found = finding(Route(change), key, "--method", "POST")
    assert (found["check"], found["problem"]) == ("content in chunks" if chunked else "content", problem)
    assert "forward the body unchanged" in found["advice"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda arrived: replace(arrived, content=b"{}"), "it arrives changed"),
        (
            lambda arrived: replace(arrived, fields=[(n, v.replace("json", "xml")) for n, v in arrived.fields]),
            "Content-Type or Content-Digest is rewritten",
        ),
        (lambda _arrived: Answer(413, content=b'{"error": "content_too_large"}'), "it is rejected: content_too_large"),
        (lambda _arrived: Answer(411), "the answer is 411, before it is verified"),
    ],
)
def test_content_that_does_not_arrive_intact_is_reported(change, problem, key):
    route = Route(lambda arrived: change(arrived) if arrived.content else arrived)
    found = diagnosis(route, key, "--method", "POST")["findings"]
    assert [one["problem"] for one in found] == [problem] * 2


def test_chunked_content_is_reported_when_the_server_hides_it(key):
    found = finding(Route(terminated=False), key, "--method", "PUT")
    assert (found["check"], "buffering proxy" in found["advice"]) == ("content in chunks", True)


@pytest.mark.parametrize(
    ("name", "algorithm"), [*zip(TRIED, itertools.cycle(["ed25519", "ecdsa-p256-sha256"]), strict=False)]
)
def test_requests_by_every_profile_arrive(name, algorithm, tmp_path):
    pair = KeyPair.generate(algorithm)
    public, private = pair.public["keys"][0], dict(pair.private)
    if name == "adcp-webhook":
        public, private = public | {"adcp_use": ["webhook-signing"]}, private | {"adcp_use": ["webhook-signing"]}
    source = parties.OneKey(VerificationKey.from_jwk(public))
    route = Route(verifier=Verifier(profiles.BY_NAME[name], keys=source, replay=MemoryReplayStore()))
    headers = [word for field in FIELDS.get(name.replace("-jwks", "-typed"), ()) for word in ("--header", field)]
    found = diagnosis(route, _key_file(tmp_path, private), "--method", "POST", "--profile", name, *headers)
    assert (found["profile"], found["findings"]) == (name, [])


def test_result_is_written_with_notes_and_exit_0_if_nothing_is_changed(key):
    with Route(mode="optional").running() as url:
        done = run("doctor", "--key", key, url)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith(f"{url}: ")
    assert lines[0].endswith(" requests with the profile adcp-3.2")
    at = lines.index("No problems found: requests arrive as they were signed.")
    assert lines[at - 1].startswith("  note     an unsigned request is answered with 404;")
    assert lines[at + 1] == "Not tested:"
    assert "  content: the probes are GET: --method POST sends content too" in lines[at:]
    assert "  ok       a question mark without a query" in lines


def test_finding_is_written_with_its_fix_and_exit_1(key):
    with Route(rewriting({"/a//b": "/a/b"}), origins=("https://HOST",)).running() as url:
        result = invoke("doctor", "--key", key, url)
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    at = lines.index("  PROBLEM  repeated slashes: the slashes are merged")
    assert lines[at + 1 : at + 3] == [
        "           sent:    /undersigned-doctor/a//b",
        "           arrives: /undersigned-doctor/a/b",
    ]
    assert "  PROBLEM  scheme: the middleware sees requests to http as requests to https" in lines
    assert "  scheme: write http:// in origins=, the scheme that clients use" in lines[lines.index("How to fix:") :]
    assert lines[-8] == "Not tested:"


@pytest.mark.parametrize(
    ("mode", "options", "named"),
    [
        ("required", (), {"content"}),
        ("required", ("--method", "POST"), set()),
        ("other key", (), {"targets and content"}),
    ],
)
def test_what_is_not_tested_is_said_with_its_reason(mode, options, named, key, keys):
    with Route(mode="required").running() as url:
        by = keys.stranger if mode == "other key" else key
        result = invoke("doctor", "--key", by, "--json", *options, url)
    untested = json.loads(result.stdout)["untested"]
    assert named <= untested.keys()
    assert {"content", "targets and content"} & untested.keys() == named
    assert "replays and clocks" in untested


def test_exit_is_1_when_the_server_gives_no_answer(key):
    with create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    result = invoke("doctor", "--key", key, url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{url}/: no response: the connection is refused: nothing listens at ")
    assert "is refused" in silence(key, url)


def silence(key, url: str, *args: str) -> str:
    """Return why the doctor gets no answer."""
    result = invoke("doctor", "--key", key, "--json", *args, url)
    [found] = objects(result.stdout_bytes)
    assert (result.exit_code, found["error"]) == (1, "no_answer")
    return found["message"]


@pytest.mark.parametrize("response", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 xyz\r\n\r\n"])
def test_response_is_no_answer_when_it_is_not_http(response, key):
    with listener(response) as port:
        told = silence(key, f"http://127.0.0.1:{port}")
    assert any(word in told for word in ("not HTTP/1.1", "connection", "reset"))


def test_server_without_a_name_silent_or_without_tls_gives_no_answer(key):
    assert "no such name" in silence(key, "http://undersigned.invalid")
    with listener(None) as port:
        assert "no data for 1 seconds" in silence(key, f"http://127.0.0.1:{port}", "--timeout", "1")
    with listener(b"HTTP/1.1 400 Bad\r\n\r\n") as port:
        assert "does not speak TLS" in silence(key, f"https://127.0.0.1:{port}")


def test_certificate_must_be_trusted(key, key_server_certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(key_server_certificate)
    received: list[bytes] = []
    with listener(OK, received, tls=context) as port:
        told = silence(key, f"https://localhost:{port}")
    assert "certificate is not trusted: self-signed certificate" in told
    assert received == []
    # The listener answers one connection, and the next ones wait in vain.
    with listener(OK, received, tls=context) as port:
        silence(key, f"https://localhost:{port}", "--ca-file", str(key_server_certificate), "--timeout", "1")
    assert received[0].startswith(b"GET /undersigned-doctor/plain HTTP/1.1\r\nHost: localhost:")
    assert b"accept-encoding" not in received[0].lower()


def challenges(*values: str) -> tuple:
    return 401, [("WWW-Authenticate", value) for value in values], b""


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (challenges('Signature error="request_signature_invalid"'), "signature_invalid"),
        (challenges("Basic", 'Bearer realm="x", Signature error="request_signature_invalid"'), "signature_invalid"),
        (challenges('Signature error="unheard_of"'), "unheard_of"),
        (challenges('Signature error="REQUEST"'), ""),
        (challenges('XSignature error="request_signature_invalid"'), ""),
        (challenges('Signature error="' + "a" * 65 + '"'), ""),
        (challenges("Basic"), ""),
        (challenges(), ""),
        ((503, (), b'{"error": "request_signature_server_unsupported"}'), "signature_server_unsupported"),
        ((413, (), b'{"error": "content_too_large"}'), "content_too_large"),
        ((408, (), b'{"error": "request_timeout"}'), "request_timeout"),
        ((503, (), b'{"error": "overloaded"}'), ""),
        ((503, (), b'{"error": "request_\x1b[31m"}'), ""),
        ((503, (), b'{"error": 1}'), ""),
        ((503, (), b'{"reason": "x"}'), ""),
        ((503, (), b"[]"), ""),
        ((503, (), b"<html>"), ""),
        ((503, (), b"\xff"), ""),
        ((503, (), b"[" * 100_000), ""),
        ((503, (), b" " * 100_000 + b'{"error": "request_timeout"}'), ""),
        ((404, (), b'{"error": "request_signature_invalid"}'), ""),
    ],
)
def test_code_comes_from_the_challenge_or_from_content_if_there_can_be_none(answer, code, key):
    [note] = diagnosis(Route(lambda _arrived: Answer(*answer)), key)["notes"]
    assert note.startswith(f"an unsigned request is answered with {answer[0]} {code}".rstrip() + ";")


@pytest.mark.parametrize(
    ("args", "named"),
    [
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
        (["--key", "PRIVATE", "--profile", "wimse", "https://a.example"], "workload-identity-token"),
        (["--key", "PUBLIC", "https://a.example"], "--key"),
    ],
)
def test_wrong_usage_is_exit_2_and_names_the_fault(args, named, keys):
    files = {"PRIVATE": keys.private, "PUBLIC": keys.public}
    assert named in usage_error("doctor", *[files.get(arg, arg) for arg in args])


def test_key_is_a_usage_error_when_it_cannot_sign_for_the_profile(tmp_path, keys):
    jwk = json.loads(Path(keys.private).read_text()) | {"adcp_use": "webhook-signing"}
    path = _key_file(tmp_path, jwk)
    assert "adcp_use" in usage_error("doctor", "--key", path, "--profile", "adcp-3.2", "https://a.example")

"""`undersigned explain`: the cause first, then each step, the base and its first difference."""

from __future__ import annotations

import pytest
from tests.cli.command import answers, invoke, lines, objects

NOW = 1776520800
BODY = b'{"a": 1}'
VERIFIED = "Verified with the profile adcp-3.2 as of when it was signed. Now: the signature has expired."


def explain(*args: str, code: int = 0) -> dict:
    result = invoke("explain", "--json", *args)
    assert (result.exit_code, result.stderr) == (code, "")
    [answer] = objects(result.stdout_bytes)
    return answer


def text(*args: str, code: int = 0) -> str:
    result = invoke("explain", *args)
    assert (result.exit_code, result.stderr) == (code, "")
    return result.stdout


@pytest.fixture
def recorded(keys, tmp_path):
    """Write a raw signed request with the given changes, and return the options that explain it."""
    request = {"method": "POST", "url": "https://seller.example.com/a%2Fb?", "body": BODY.decode()}
    request["headers"] = {"Content-Type": "application/json"}

    def record(*changes: tuple[bytes, bytes], profile: str = "adcp-3.2", key: str = "private", options=()):
        command = ("sign", "--key", getattr(keys, key), "--created", str(NOW), "--profile", profile, "-")
        [signed] = answers(*command, stdin=lines(request))
        fields = [["Host", "seller.example.com"], ["Content-Type", "application/json"], *signed["headers"]]
        head = "".join(f"{name}: {value}\r\n" for name, value in fields)
        raw = f"POST /a%2Fb? HTTP/1.1\r\n{head}\r\n".encode() + BODY
        for before, after in changes:
            assert before in raw
            raw = raw.replace(before, after)
        (tmp_path / "request").write_bytes(raw)
        (tmp_path / "base").write_text(signed["signature_base"] + "\n")
        return (str(tmp_path / "request"), "--jwks", keys.public, *options)

    return record


def outcomes(answer) -> str:
    marks = {"passed": "+", "failed": "x", "not checked": "-", "not reached": "."}
    return "".join(marks[one["outcome"]] for one in answer["steps"])


def test_valid_request_passes_every_step_that_can_be_checked(recorded):
    answer = explain(*recorded())
    assert (answer["ok"], answer["code"], answer["step"], answer["cause"]) == (True, None, None, None)
    assert outcomes(answer) == "+++++++++--++--+"
    assert [one["step"] for one in answer["steps"]] == [*range(10), "9a", *range(10, 15)]
    assert '"@target-uri": https://seller.example.com/a%2Fb?\n' in answer["signature_base"]


def test_text_shows_the_result_the_steps_and_the_base(recorded):
    shown = text(*recorded()).splitlines()
    assert shown[:2] == [VERIFIED, "Profile: adcp-3.2"]
    assert shown[4] == "+  0  presence of a signature"
    assert shown[13] == "-  9  key revocation  (not checked: needs a revocation list or a replay store)"
    assert shown[21].startswith("Content-Digest of the body:    sha-256=:")
    assert shown[23] == "The signature base, rebuilt from this request:"
    assert shown[24] == '  "@method": POST'


@pytest.mark.parametrize("options", [(), ("--base", "base")])
def test_cause_is_the_first_line_with_and_without_the_signers_base(recorded, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = recorded((b"a%2Fb?", b"a/b?"), options=options)
    answer = explain(*options, code=1)
    assert (answer["code"], answer["step"]) == ("request_signature_invalid", 10)
    assert outcomes(answer) == "+++++++++--x...."
    cause = answer["cause"]
    assert (cause["name"], cause["signed"], cause["received"]) == ("decoded octets", "/a%2Fb", "/a/b")
    assert (answer["signers_base"], cause["keyid"]) == ((tmp_path / "base").read_text().rstrip("\n"), "buyer-2026")
    gap = answer["difference"]
    shown = text(*options, code=1)
    assert shown.startswith("Cause: decoded octets: the sender signed /a%2Fb; you received /a/b. ")
    assert shown.splitlines()[1] == "Who usually does this: proxy, server, client"
    assert cause["makers"] == ["proxy", "server", "client"]
    assert f"The signer's base first differs at byte {gap['offset']}, which is line {gap['line']}" in shown
    assert "x 10  target, authority and signature\n      request_signature_invalid: " in shown


def test_end_of_a_base_is_marked(recorded, tmp_path):
    options = recorded(options=("--base", str(tmp_path / "base")))
    (tmp_path / "base").write_text((tmp_path / "base").read_text().rstrip("\n")[:-3])
    assert "(its end)" in text(*options)


def test_digest_that_does_not_match_is_shown_next_to_the_right_one(recorded):
    shown = text(*recorded((BODY, b'{\n  "a": 1\n}')), code=1)
    assert shown.startswith("Cause: other content: the sender signed the same JSON written with spaces, as json.dumps")
    assert "\nContent-Digest as received:    sha-256=:" in shown


def test_time_of_the_check_is_the_signing_time(recorded):
    assert text(*recorded()).splitlines()[2:4] == [
        "Checked as of: 2026-04-18 14:00:00 UTC, when it was signed",
        "Now: the signature has expired, expires 2026-04-18 14:05:00 UTC",
    ]
    late = text(*recorded((str(NOW).encode(), b"9" * 15)), code=1)
    assert "999999999999999 seconds since the epoch" in late


def test_base_that_cannot_be_rebuilt_is_said_so(recorded):
    shown = text(*recorded((b"Signature-Input: ", b"X: "), (b"Signature: ", b"Y: ")), code=1)
    assert "The signature base cannot be rebuilt from this request." in shown


def test_profile_scheme_and_origin_come_from_options(recorded):
    options = recorded((b"a%2Fb?", b"b?"), profile="adcp-3.1")
    assert explain(*options, "--profile", "adcp-3.1", code=1)["profile"] == "adcp-3.1"
    origins = ("--origin", "https://seller.example.com/t7")
    shown = text(*recorded(), *origins)
    assert shown.startswith("Verified")
    assert '"@target-uri": http://seller' in text(*options, "--origin", "http://seller.example.com", code=1)
    assert invoke("explain", *options, "--origin", "nothing").exit_code == 2


def test_content_comes_from_an_option_for_the_output_of_curl(recorded, tmp_path):
    options = recorded()
    head = (tmp_path / "request").read_bytes().removesuffix(BODY).rstrip(b"\r\n")
    head = head.replace(b"Host:", b"Content-Length: 8\r\nHost:")
    (tmp_path / "request").write_bytes(b"".join(b"> " + line + b"\n" for line in head.split(b"\r\n")) + b">\n")
    (tmp_path / "body").write_bytes(BODY)
    assert explain(*options, "--body", str(tmp_path / "body"))["ok"]
    result = invoke("explain", *options)
    assert (result.exit_code, result.stdout, "--body" in result.stderr) == (1, "", True)
    (tmp_path / "request").write_text((tmp_path / "request").read_text().replace("POST ", "PUT "))
    unknown, known = text(*options, code=1), text(*options, "--body", str(tmp_path / "body"), code=1)
    assert "The body is not checked: the output of curl -v does not show the body" in unknown
    assert ["Content-Digest of the body" in shown for shown in (unknown, known)] == [False, True]


def test_file_that_cannot_be_explained_is_one_line_on_standard_error(keys, tmp_path):
    (tmp_path / "request").write_text("x")
    result = invoke("explain", str(tmp_path / "request"), "--jwks", keys.public)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "line 1 is not a request line" in result.stderr


def test_any_control_character_of_a_request_is_escaped(recorded):
    shown = text(*recorded((b"application/json", b"a\x1b[31m\x9b")), code=1)
    assert shown.replace("\n", "").isprintable()

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest
from tests.cli.command import answers, invoke, lines, objects, run

URL = "HTTPS://Ads.pub.test:443/%7Eb#f"
RULES = ["scheme-case", "host-case", "default-port", "unreserved", "fragment"]
NOW = 1776520800
BODY = b'{"a": 1}'
ESCAPE = "\x1b["


def explain(*args: str, code: int = 0) -> dict:
    result = invoke("explain", "--json", *args)
    assert (result.exit_code, result.stderr) == (code, "")
    [answer] = objects(result.stdout_bytes)
    return answer


def text(*args: str, code: int = 0) -> str:
    result = invoke("explain", *args)
    assert (result.exit_code, result.stderr) == (code, "")
    return result.stdout


# One URL


def test_of_one_url_each_rule_that_changed_it_is_shown_before_and_after():
    answer = explain(URL)
    assert answer["result"] == "https://ads.pub.test/~b"
    assert [change["rule"] for change in answer["changes"]] == RULES
    assert answer["changes"][2] == {
        "rule": "default-port",
        "source": "AdCP step 4; RFC 3986 section 6.2.3",
        "preserves": "always",
        "before": "https://ads.pub.test:443/%7Eb#f",
        "after": "https://ads.pub.test/%7Eb#f",
    }
    assert (answer["url"], answer["policy"]) == (URL, "adcp")


def test_text_says_the_same_a_line_each():
    shown = text(URL).splitlines()
    assert shown[0] == URL
    assert [line.split()[0] for line in shown[1:-1:3]] == RULES
    assert shown[2:4] == [f"    - {URL}", "    + https://Ads.pub.test:443/%7Eb#f"]
    assert shown[-1] == "  = https://ads.pub.test/~b  (the result)"


def test_url_that_no_rule_changes_is_as_it_was():
    assert text("https://a/").splitlines()[-1] == "  = https://a/  (as it was)"
    assert explain("https://a/")["changes"] == []


def test_refusal_ends_with_its_rule_and_exit_1():
    answer = explain("HTTPS://user@/p", code=1)
    assert (answer["error"], answer["rule"]) == ("target_uri_malformed", "authority")
    assert "result" not in answer
    shown = text("HTTPS://user@/p", code=1)
    assert shown.splitlines()[-1] == "  ! authority: the URL has an authority without a host"


@pytest.mark.parametrize(
    ("policy", "url", "result"),
    [
        ("rfc3986-scheme", "mailto:a@B", "mailto:a@b"),
        ("iri", "http://b\u00fccher.example", "http://xn--bcher-kva.example/"),
        ("powder", "www.example.com.", "http://www.example.com/"),
        ("atom", "TAG:A,2004:b#c#d", "tag:A,2004:b#c%23d"),
    ],
)
def test_policy_is_a_choice(policy, url, result):
    answer = explain("--policy", policy, url)
    assert (answer["result"], answer["policy"]) == (result, policy)


def test_received_policy_refuses_what_a_sender_converts():
    assert explain("--policy", "adcp-received", "https://b\u00fccher.example/", code=1)["rule"] == "as-received"


def test_control_characters_do_not_reach_the_terminal():
    result = invoke("explain", f"https://a/{ESCAPE}31m\u202e")
    assert result.stdout.replace("\n", "").isprintable()
    assert result.stdout.isascii()


def test_colour_goes_to_a_terminal_and_nowhere_else():
    assert ESCAPE not in text(URL)
    coloured = run("explain", URL, env={"FORCE_COLOR": "1", "TERM": "xterm-256color", "PATH": ""})
    assert ESCAPE.encode() in coloured.stdout


def test_long_line_is_not_folded():
    url = "https://a/" + "b" * 500
    assert text(url).splitlines() == [url, f"  = {url}  (as it was)"]


# Two URLs


def test_of_two_urls_the_first_rung_and_the_rules_it_took():
    answer = explain("HTTP://a:80", "http://a/")
    assert (answer["rung"], answer["preserves"], answer["equivalent"]) == ("scheme", "always", True)
    assert [rule["rule"] for rule in answer["rules"]] == ["scheme-case", "default-port", "empty-path"]
    assert (answer["urls"], answer["forms"]) == (["HTTP://a:80", "http://a/"], ["http://a/"] * 2)
    assert (answer["difference"], answer["adcp"]) == (None, "same")
    shown = text("HTTP://a:80", "http://a/").splitlines()
    assert shown[0] == "They meet on the rung scheme."
    assert shown[-2:] == ["  = http://a/", "AdCP signs them as the same URL"]


def test_of_two_urls_the_first_difference_that_remains():
    answer = explain("http://a/?b", "HTTP://a/?c", code=1)
    assert (answer["rung"], answer["equivalent"], answer["adcp"]) == (None, False, "different")
    assert answer["difference"] == {"part": "query", "a": "b", "b": "c", "at": 10}
    assert text("http://a/?b", "HTTP://a/?c", code=1).splitlines() == [
        "They meet on no rung. What remains differs first in the query.",
        "    a http://a/?b",
        "    b http://a/?c",
        "AdCP signs them as two URLs",
    ]


def test_meeting_by_a_guess_is_no_equivalence():
    assert explain("http://a/b", "http://a/b/", code=1)["preserves"] == "usually"
    assert "not always: it is no equivalence" in text("http://a/b", "http://a/b/", code=1)
    assert "change what a URL identifies" in text("--policy", "adcp", "http://a/#b", "http://a/", code=1)


def test_two_urls_are_compared_by_a_policy_where_one_is_given():
    answer = explain("--policy", "powder", "www.a.test", "HTTP://www.a.test/", code=1)
    assert (answer["rung"], [rule["rule"] for rule in answer["rules"]]) == (
        "powder",
        ["default-scheme", "scheme-case", "empty-path"],
    )


def test_refusal_of_one_of_two_is_shown():
    answer = explain("a", "b", code=1)
    assert (answer["rule"], answer["adcp"]) == ("absolute", "malformed")
    assert "absolute: the reference is relative" in text("a", "b", code=1)


# A request


@pytest.fixture
def recorded(keys, tmp_path):
    """Write a signed request as it was on the wire, changed where told, and return the options that explain it."""
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
        now = ("--now", str(NOW)) if "--now" not in options else ()
        return ("--request", str(tmp_path / "request"), "--jwks", keys.public, *now, *options)

    return record


def outcomes(answer):
    return "".join(
        {"passed": "+", "failed": "x", "not asked": "-", "open": "."}[one["outcome"]] for one in answer["steps"]
    )


def test_request_that_verifies_passes_every_step_that_can_be_asked(recorded):
    answer = explain(*recorded())
    assert (answer["ok"], answer["code"], answer["step"], answer["causes"]) == (True, None, None, [])
    assert outcomes(answer) == "+++++++++--++--+"
    assert [one["step"] for one in answer["steps"]] == [*range(10), "9a", *range(10, 15)]
    assert '"@target-uri": https://seller.example.com/a%2Fb?\n' in answer["signature_base"]


def test_text_shows_the_steps_and_the_base(recorded):
    shown = text(*recorded()).splitlines()
    assert shown[0] == "+  0  the request is signed"
    assert shown[9] == "-  9  the key is not revoked  (not asked: a recording has no list and no store)"
    assert shown[17] == "The signature base, as rebuilt from this request:"
    assert shown[18] == '  "@method": POST'


@pytest.mark.parametrize(
    ("changes", "line", "cause"),
    [
        ([(b"a%2Fb?", b"a/b?")], "@target-uri", "%2F was decoded to /"),
        ([(b"a%2Fb?", b"a%2Fb")], "@target-uri", "a lone ? was lost on the way"),
        ([(b"seller.example.com", b"backend:8000")], "@target-uri", "Host was rewritten"),
        ([(b"application/json", b"application/json; charset=utf-8")], "content-type", "adds a charset"),
    ],
)
def test_beside_the_signers_base_the_first_differing_byte_and_its_likely_cause(
    recorded, changes, line, cause, tmp_path
):
    options = recorded(*changes, options=("--base", str(tmp_path / "base")))
    answer = explain(*options, code=1)
    assert (answer["code"], answer["step"]) == ("request_signature_invalid", 10)
    gap, signers = answer["difference"], (tmp_path / "base").read_text()
    assert gap["component"] == f'"{line}"'
    assert answer["signature_base"][: gap["offset"]] == signers[: gap["offset"]]
    assert answer["signature_base"][gap["offset"]] != signers[gap["offset"]]
    assert [cause in one for one in answer["causes"]] == [True]
    assert outcomes(answer) == "+++++++++--x...."
    shown = text(*options, code=1)
    assert f"The signer's base first differs at byte {gap['offset']}, which is line {gap['line']}" in shown
    assert f"\nLikely cause: {answer['causes'][0]}\n" in shown


def test_signer_that_did_not_canonicalize_is_told_by_its_base(recorded, tmp_path):
    options = recorded((b"seller.example.com", b"Seller.example.com"), options=("--base", str(tmp_path / "base")))
    base = (tmp_path / "base").read_text().replace("https://seller", "https://Seller", 1)
    assert explain(*options)["difference"] is None
    (tmp_path / "base").write_text(base)
    assert "host-case" in explain(*options)["causes"][0]


def test_equal_bases_leave_the_key_or_the_signature(recorded, tmp_path):
    options = recorded((b"sig1=:", b"sig1=:AAAA"), options=("--base", str(tmp_path / "base")))
    answer = explain(*options, code=1)
    assert (answer["difference"], answer["step"]) == (None, 10)
    assert answer["causes"] == ["the two bases are equal: the signature is another key's, or was changed"]
    assert explain(*options[:-2], code=1)["causes"] == []


def test_digest_of_json_written_anew_is_found_without_the_signers_base(recorded):
    answer = explain(*recorded((BODY, b'{\n  "a": 1\n}')), code=1)
    assert (answer["code"], answer["step"]) == ("request_signature_digest_mismatch", 11)
    words = "the same JSON written with spaces, as json.dumps does"
    assert answer["causes"] == [f"the digest is of {words}: sign the bytes that are sent, and send them as they are"]
    assert explain(*recorded((BODY, b"[]")), code=1)["causes"] == []


def test_base64url_is_told_from_the_base64_of_the_profile(recorded):
    answer = explain(*recorded(profile="adcp-3.1"), code=1)
    assert (answer["code"], answer["step"]) == ("request_signature_header_malformed", 1)
    assert answer["causes"][0] == "signature is in Base64url, and the profile adcp-3.2 wants padded Base64 (RFC 8941)"
    assert explain(*recorded(profile="adcp-3.1"), "--profile", "adcp-3.1")["ok"]
    answer = explain(*recorded(), "--profile", "adcp-3.1", code=1)
    assert answer["causes"] == ["signature is in padded Base64, and the profile adcp-3.1 wants unpadded Base64url"]


@pytest.mark.parametrize(("before", "after"), [(b"sig1=:", b"sig1=:*"), (b"Signature: ", b"X: ")])
def test_signature_that_is_no_byte_sequence_or_is_absent_has_no_cause_but_its_step(recorded, before, after):
    answer = explain(*recorded((before, after)), code=1)
    assert (answer["step"], answer["causes"]) == (1, [])


def test_time_is_that_of_now_or_of_the_clock(recorded):
    for options in (("--now", str(NOW + 1000)), ()):
        answer = explain(*recorded(options=options)[: None if options else -2], code=1)
        assert answer["step"] == 5
        assert answer["causes"] == [
            f"it is valid from {NOW} to {NOW + 300}, in seconds since the epoch: --now says when to judge it"
        ]
        assert answer["signature_base"] is not None


def test_unknown_key_is_a_step_and_the_base_is_rebuilt_all_the_same(recorded):
    answer = explain(*recorded(key="stranger"), code=1)
    assert (answer["step"], answer["causes"]) == (7, [])
    assert answer["signature_base"].startswith('"@method": POST')


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ([(b"Signature-Input: ", b"X: "), (b"Signature: ", b"Y: ")], 0),
        ([(b"/a%2Fb?", b"/%zz")], 10),
        ([(b'"content-digest")', b'"content-digest" "absent")')], 10),
    ],
)
def test_base_that_cannot_be_rebuilt_is_said_to_be_none(recorded, changes, step, tmp_path):
    options = recorded(*changes, options=("--base", str(tmp_path / "base")))
    answer = explain(*options, code=1)
    assert (answer["step"], answer["signature_base"], answer["difference"]) == (step, None, None)
    assert "No signature base can be rebuilt" in text(*options, code=1)


def test_other_label_with_the_profiles_tag_is_the_one_that_is_read(recorded):
    answer = explain(*recorded((b"sig1=", b"other=")))
    assert answer["ok"]
    assert answer["signature_base"] is not None


def test_scheme_and_body_come_with_options_and_curl_shows_its_lines(recorded, tmp_path):
    options = recorded()
    raw = (tmp_path / "request").read_bytes()
    head = raw.removesuffix(BODY).rstrip(b"\r\n")
    (tmp_path / "request").write_bytes(
        b"* curl\n" + b"".join(b"> " + line + b"\n" for line in head.split(b"\r\n")) + b">\n"
    )
    (tmp_path / "body").write_bytes(BODY)
    assert explain(*options, "--body", str(tmp_path / "body"))["ok"]
    answer = explain(*options, "--body", str(tmp_path / "body"), "--scheme", "http", code=1)
    assert '"@target-uri": http://seller' in answer["signature_base"]


def test_text_that_is_no_request_is_one_line_on_standard_error(keys, tmp_path):
    (tmp_path / "request").write_text("x")
    result = invoke("explain", "--request", str(tmp_path / "request"), "--jwks", keys.public)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "line 1 is no request line" in result.stderr


def test_file_that_cannot_be_read_is_one_line_on_standard_error(recorded, monkeypatch):
    options = recorded()
    read = Path.read_bytes

    def unreadable(path):
        if path.name == "request":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", unreadable)
    result = invoke("explain", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "cannot be read: Permission denied" in result.stderr


def test_any_control_character_of_a_request_is_escaped(recorded):
    shown = text(*recorded((b"application/json", b"a\x1b[31m\x9b")), code=1)
    assert shown.replace("\n", "").isprintable()


# Options


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give one URL"),
        (("a:b", "a:b", "a:b"), "give one URL"),
        (("--now", "1", "a:b"), "go with --request"),
        (("--request", "FILE"), "needs --jwks"),
        (("--request", "FILE", "a:b"), "without URLs"),
        (("--request", "FILE", "--policy", "iri"), "without URLs"),
        (("--policy", "other", "a:b"), "other"),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(args, message, tmp_path):
    (tmp_path / "request").write_text("x")
    result = invoke("explain", *(arg.replace("FILE", str(tmp_path / "request")) for arg in args))
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_base_and_body_go_with_a_request(tmp_path):
    (tmp_path / "file").write_text("x")
    for option in ("--base", "--body"):
        assert invoke("explain", option, str(tmp_path / "file"), "a:b").exit_code == 2


def test_digest_in_base64url_beside_a_signature_in_base64_is_told(recorded):
    raw = base64.b64encode(hashlib.sha256(BODY).digest())
    url = base64.urlsafe_b64encode(hashlib.sha256(BODY).digest()).rstrip(b"=")
    answer = explain(*recorded((raw, url)), code=1)
    assert answer["causes"] == [
        "content-digest is in Base64url, and the profile adcp-3.2 wants padded Base64 (RFC 8941)"
    ]


def test_json_of_a_request_is_one_line_of_ascii(recorded):
    result = invoke("explain", "--json", *recorded())
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["ok"]

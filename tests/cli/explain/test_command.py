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


class Unread:
    """An open file that must not be read."""

    def __init__(self, file) -> None:
        self._file = file

    def __enter__(self):
        return self

    def __exit__(self, *_error) -> None:
        self._file.close()

    def fileno(self) -> int:
        return self._file.fileno()


# One URL


def test_json_has_each_change_of_a_url_before_and_after():
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
    assert (answer["url"], answer["rule_set"]) == (URL, "adcp")


def test_text_has_the_changes_one_per_line():
    shown = text(URL).splitlines()
    assert shown[0] == URL
    assert [line.split()[0] for line in shown[1:-1:3]] == RULES
    assert shown[2:4] == [f"    - {URL}", "    + https://Ads.pub.test:443/%7Eb#f"]
    assert shown[-1] == "  = https://ads.pub.test/~b  (the result)"


def test_text_says_unchanged_when_no_rule_changes_the_url():
    assert text("https://a/").splitlines()[-1] == "  = https://a/  (unchanged)"
    assert explain("https://a/")["changes"] == []


def test_rejected_url_gives_its_rule_and_exit_1():
    answer = explain("HTTPS://user@/p", code=1)
    assert (answer["error"], answer["rule"]) == ("target_uri_malformed", "authority")
    assert "result" not in answer
    shown = text("HTTPS://user@/p", code=1)
    assert (
        shown.splitlines()[-1]
        == "  ! authority: the URL has an authority without a host; write it like 'https://host/path'"
    )


@pytest.mark.parametrize(
    ("rules", "url", "result"),
    [
        ("rfc3986-scheme", "mailto:a@B", "mailto:a@b"),
        ("iri", "http://b\u00fccher.example", "http://xn--bcher-kva.example/"),
        ("powder", "www.example.com.", "http://www.example.com/"),
        ("atom", "TAG:A,2004:b#c#d", "tag:A,2004:b#c%23d"),
    ],
)
def test_rules_selects_the_rule_set(rules, url, result):
    answer = explain("--rules", rules, url)
    assert (answer["result"], answer["rule_set"]) == (result, rules)


def test_received_rule_set_rejects_a_non_ascii_host():
    assert explain("--rules", "adcp-received", "https://b\u00fccher.example/", code=1)["rule"] == "as-received"


def test_control_characters_do_not_reach_the_terminal():
    result = invoke("explain", f"https://a/{ESCAPE}31m\u202e")
    assert result.stdout.replace("\n", "").isprintable()
    assert result.stdout.isascii()


def test_colour_goes_to_a_terminal_only():
    assert ESCAPE not in text(URL)
    coloured = run("explain", URL, env={"FORCE_COLOR": "1", "TERM": "xterm-256color", "PATH": ""})
    assert ESCAPE.encode() in coloured.stdout


def test_long_line_is_not_folded():
    url = "https://a/" + "b" * 500
    assert text(url).splitlines() == [url, f"  = {url}  (unchanged)"]


# Two URLs


def test_comparison_gives_the_lowest_rung_and_the_rules_needed():
    answer = explain("HTTP://a:80", "http://a/")
    assert (answer["rung"], answer["preserves"], answer["equivalent"]) == ("scheme", "always", True)
    assert [rule["rule"] for rule in answer["rules"]] == ["scheme-case", "default-port", "empty-path"]
    assert (answer["urls"], answer["forms"]) == (["HTTP://a:80", "http://a/"], ["http://a/"] * 2)
    assert (answer["difference"], answer["adcp"]) == (None, "same")
    shown = text("HTTP://a:80", "http://a/").splitlines()
    assert shown[0] == "Equal on the rung scheme."
    assert shown[-2:] == ["  = http://a/", "For AdCP signatures: the same URL"]


def test_comparison_gives_the_first_remaining_difference():
    answer = explain("http://a/?b", "HTTP://a/?c", code=1)
    assert (answer["rung"], answer["equivalent"], answer["adcp"]) == (None, False, "different")
    assert answer["difference"] == {"part": "query", "a": "b", "b": "c", "at": 10}
    assert text("http://a/?b", "HTTP://a/?c", code=1).splitlines() == [
        "Not equivalent: the two differ first in the query.",
        "    a http://a/?b",
        "    b http://a/?c",
        "For AdCP signatures: different URLs",
    ]


def test_urls_equal_by_a_guess_are_not_equivalent():
    assert explain("http://a/b", "http://a/b/", code=1)["preserves"] == "usually"
    assert "Not equivalent: these rules usually preserve" in text("http://a/b", "http://a/b/", code=1)
    assert "may change the meaning of a URL" in text("--rules", "adcp", "http://a/#b", "http://a/", code=1)


def test_two_urls_are_compared_by_the_given_rule_set():
    answer = explain("--rules", "powder", "www.a.test", "HTTP://www.a.test/", code=1)
    assert (answer["rung"], [rule["rule"] for rule in answer["rules"]]) == (
        "powder",
        ["default-scheme", "scheme-case", "empty-path"],
    )


def test_comparison_shows_the_error_when_one_url_is_rejected():
    answer = explain("a", "b", code=1)
    assert (answer["rule"], answer["adcp"]) == ("absolute", "malformed")
    assert "absolute: the reference is relative" in text("a", "b", code=1)


# A request


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
        now = ("--now", str(NOW)) if "--now" not in options else ()
        return ("--request", str(tmp_path / "request"), "--jwks", keys.public, *now, *options)

    return record


def outcomes(answer):
    return "".join(
        {"passed": "+", "failed": "x", "not checked": "-", "not reached": "."}[one["outcome"]]
        for one in answer["steps"]
    )


def test_valid_request_passes_every_step_that_can_be_checked(recorded):
    answer = explain(*recorded())
    assert (answer["ok"], answer["code"], answer["step"], answer["causes"]) == (True, None, None, [])
    assert outcomes(answer) == "+++++++++--++--+"
    assert [one["step"] for one in answer["steps"]] == [*range(10), "9a", *range(10, 15)]
    assert '"@target-uri": https://seller.example.com/a%2Fb?\n' in answer["signature_base"]


def test_text_shows_the_steps_and_the_base(recorded):
    shown = text(*recorded()).splitlines()
    assert shown[0] == "Profile: adcp-3.2"
    assert shown[3] == "+  0  presence of a signature"
    assert shown[12] == "-  9  key revocation  (not checked: needs a revocation list or a replay store)"
    assert shown[20].startswith("Content-Digest of the content: sha-256=:")
    assert shown[22] == "The signature base, rebuilt from this request:"
    assert shown[23] == '  "@method": POST'


@pytest.mark.parametrize(
    ("changes", "line", "cause"),
    [
        ([(b"a%2Fb?", b"a/b?")], "@target-uri", "%2F was decoded to /"),
        ([(b"a%2Fb?", b"a%2Fb")], "@target-uri", "a ? without a query was lost on the way"),
        ([(b"seller.example.com", b"backend:8000")], "@target-uri", "Host was rewritten"),
        ([(b"application/json", b"application/json; charset=utf-8")], "content-type", "add a charset"),
    ],
)
def test_difference_from_the_signers_base_has_its_byte_and_likely_cause(recorded, changes, line, cause, tmp_path):
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


def test_cause_is_found_without_the_signers_base(recorded, tmp_path):
    options = recorded((b"a%2Fb?", b"a/b?"))
    answer = explain(*options, code=1)
    assert answer["causes"][0].startswith("decoded octets: the sender signed /a%2Fb; you received /a/b. ")
    [change] = answer["changes"]
    assert (change["variant"], change["part"], change["signed"]) == ("decoded octets", "path", "/a%2Fb")
    assert (answer["signers_base"], answer["keyid"]) == ((tmp_path / "base").read_text().rstrip("\n"), "buyer-2026")
    assert (answer["difference"]["component"], answer["search"]["complete"]) == ('"@target-uri"', True)
    shown = text(*options, code=1)
    assert "The signer's base first differs at byte " in shown
    assert "\nCause: decoded octets: the sender signed /a%2Fb; you received /a/b." in shown


def test_origin_of_the_server_names_a_host_and_a_prefix_to_try(recorded):
    options = recorded((b"seller.example.com", b"10.0.0.7:8000"))
    assert explain(*options, code=1)["changes"] == []
    answer = explain(*options, "--origin", "https://a.test", "--origin", "https://seller.example.com", code=1)
    assert [change["variant"] for change in answer["changes"]] == ["other host"]
    result = invoke("explain", *options, "--origin", "seller.example.com")
    assert (result.exit_code, "--origin" in result.stderr) == (2, True)


def test_digest_of_the_content_is_shown_next_to_the_declared_one(recorded):
    options = recorded((BODY, b"[]"))
    digest = base64.b64encode(hashlib.sha256(b"[]").digest()).decode()
    answer = explain(*options, code=1)
    assert (answer["content_digest"]["computed"], answer["content_digest"]["matches"]) == (f"sha-256=:{digest}:", False)
    shown = text(*options, code=1)
    assert f"Content-Digest of the content: sha-256=:{digest}:" in shown
    assert f"Content-Digest as received:    {answer['content_digest']['declared']}" in shown


def test_large_file_is_rejected_and_not_read(keys, tmp_path, monkeypatch):
    with (tmp_path / "request").open("wb") as file:
        file.truncate(200_000_000)
    opened = Path.open

    def unread(path, *mode, **options):
        file = opened(path, *mode, **options)
        return Unread(file) if path.name == "request" else file

    monkeypatch.setattr(Path, "open", unread)
    result = invoke("explain", "--request", str(tmp_path / "request"), "--jwks", keys.public)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has more than 1,114,112 bytes" in " ".join(result.stderr.split())


def test_large_standard_input_is_rejected_after_its_bound(keys, recorded):
    result = invoke("explain", "--request", "-", "--jwks", keys.public, stdin=b"x" * 2_000_000)
    assert (result.exit_code, "standard input has more than" in " ".join(result.stderr.split())) == (2, True)
    result = invoke("explain", *recorded(), "--body", "-", stdin=b"x" * 2_000_000)
    assert (result.exit_code, "standard input has more than" in " ".join(result.stderr.split())) == (2, True)


def test_cause_names_the_rules_when_the_signer_did_not_canonicalize(recorded, tmp_path):
    options = recorded((b"seller.example.com", b"Seller.example.com"), options=("--base", str(tmp_path / "base")))
    base = (tmp_path / "base").read_text().replace("https://seller", "https://Seller", 1)
    assert explain(*options)["difference"] is None
    (tmp_path / "base").write_text(base)
    assert "host-case" in explain(*options)["causes"][0]


def test_cause_is_the_key_or_the_signature_when_the_bases_are_equal(recorded, tmp_path):
    options = recorded((b"sig1=:", b"sig1=:AAAA"), options=("--base", str(tmp_path / "base")))
    answer = explain(*options, code=1)
    assert (answer["difference"], answer["step"]) == (None, 10)
    assert answer["causes"] == ["the two bases are equal: another key signed, or the signature was changed"]
    assert explain(*options[:-2], code=1)["causes"] == []


def test_cause_names_rewritten_json_without_the_signers_base(recorded):
    answer = explain(*recorded((BODY, b'{\n  "a": 1\n}')), code=1)
    assert (answer["code"], answer["step"]) == ("request_signature_digest_mismatch", 11)
    words = "the same JSON written with spaces, as json.dumps does"
    [cause] = answer["causes"]
    assert cause.startswith(f"other content: the sender signed {words}; you received 12 other bytes.")
    assert explain(*recorded((BODY, b"[]")), code=1)["causes"] == []


def test_cause_names_the_wrong_base64_alphabet(recorded):
    answer = explain(*recorded(profile="adcp-3.1"), "--profile", "adcp-3.2", code=1)
    assert (answer["code"], answer["step"]) == ("request_signature_header_malformed", 1)
    assert answer["causes"][0].startswith("other Base64: signature in Base64url, expected padded Base64 (RFC 8941).")
    assert explain(*recorded(profile="adcp-3.1"), "--profile", "adcp-3.1")["ok"]
    answer = explain(*recorded(), "--profile", "adcp-3.1", code=1)
    spelling, profile = answer["causes"]
    assert spelling.startswith("other Base64: signature in padded Base64, expected unpadded Base64url.")
    assert profile == "the profile: the request is verified by adcp-3.2, and not by adcp-3.1"


def test_wrong_base64_alphabet_is_a_likely_cause_when_nothing_is_proven(recorded):
    answer = explain(*recorded((b"/a%2Fb?", b"/elsewhere/7"), profile="adcp-3.1"), "--profile", "adcp-3.2", code=1)
    assert answer["causes"] == ["signature is in Base64url: the profile adcp-3.2 expects padded Base64 (RFC 8941)"]


def test_profile_is_guessed_from_the_tag_and_the_spelling(recorded):
    answer = explain(*recorded(profile="adcp-3.1"))
    assert (answer["ok"], answer["profile"]) == (True, "adcp-3.1")
    assert explain(*recorded((b"sig1=:", b"sig1=:AAAA")), code=1)["profile"] == "adcp-3.2"


@pytest.mark.parametrize(("before", "after"), [(b"sig1=:", b"sig1=:*"), (b"Signature: ", b"X: ")])
def test_malformed_or_missing_signature_has_no_cause(recorded, before, after):
    answer = explain(*recorded((before, after)), code=1)
    assert (answer["step"], answer["causes"]) == (1, [])


def test_request_is_verified_as_of_its_signing_and_its_expiry_is_reported(recorded):
    options = recorded()[:-2]
    answer = explain(*options)
    validity = answer["validity"]
    assert (answer["ok"], validity["judged_at"], validity["is_signing_time"]) == (True, NOW, True)
    assert (validity["created"], validity["expires"]) == (NOW, NOW + 300)
    assert validity["fault"] == "the signature has expired"
    assert text(*options).splitlines()[1:3] == [
        "Checked as of: 2026-04-18 14:00:00 UTC, when it was signed",
        "Now: the signature has expired, expires 2026-04-18 14:05:00 UTC",
    ]


def test_request_is_verified_as_of_now_when_it_is_given(recorded):
    options = recorded(options=("--now", str(NOW + 1000)))
    answer = explain(*options, code=1)
    assert (answer["step"], answer["validity"]["is_signing_time"]) == (5, False)
    assert answer["causes"] == [
        f"the signature is valid from {NOW} to {NOW + 300} (seconds since the epoch): set --now accordingly"
    ]
    assert answer["signature_base"] is not None
    assert "the verifier's clock" in text(*options, code=1).splitlines()[1]


def test_unknown_key_fails_its_step_and_the_base_is_still_rebuilt(recorded):
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
def test_output_says_when_the_base_cannot_be_rebuilt(recorded, changes, step, tmp_path):
    options = recorded(*changes, options=("--base", str(tmp_path / "base")))
    answer = explain(*options, code=1)
    assert (answer["step"], answer["signature_base"], answer["difference"]) == (step, None, None)
    assert "The signature base cannot be rebuilt" in text(*options, code=1)


def test_signature_with_the_profiles_tag_is_read_under_any_label(recorded):
    answer = explain(*recorded((b"sig1=", b"other=")))
    assert answer["ok"]
    assert answer["signature_base"] is not None


def test_scheme_and_body_come_from_options_for_the_output_of_curl(recorded, tmp_path):
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


def test_output_of_curl_without_its_content_asks_for_the_body(keys, tmp_path):
    (tmp_path / "request").write_text("> POST / HTTP/1.1\n> Host: a\n> Content-Length: 2\n>\n")
    result = invoke("explain", "--request", str(tmp_path / "request"), "--jwks", keys.public)
    assert (result.exit_code, result.stdout, "--body" in result.stderr) == (1, "", True)


def test_malformed_request_file_is_one_line_on_standard_error(keys, tmp_path):
    (tmp_path / "request").write_text("x")
    result = invoke("explain", "--request", str(tmp_path / "request"), "--jwks", keys.public)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "line 1 is not a request line" in result.stderr


def test_unreadable_file_is_one_line_on_standard_error(recorded, monkeypatch):
    options = recorded()
    opened = Path.open

    def unreadable(path, *mode, **options):
        if path.name == "request":
            raise PermissionError(13, "Permission denied")
        return opened(path, *mode, **options)

    monkeypatch.setattr(Path, "open", unreadable)
    result = invoke("explain", *options)
    assert (result.exit_code, result.stdout) == (2, "")
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
        (("--now", "1", "a:b"), "need --request"),
        (("--origin", "https://a.test", "a:b"), "need --request"),
        (("--profile", "adcp-3.1", "a:b"), "need --request"),
        (("--scheme", "https", "a:b"), "need --request"),
        (("--request", "FILE"), "needs --jwks"),
        (("--request", "FILE", "a:b"), "cannot be combined with URLs"),
        (("--request", "FILE", "--rules", "iri"), "cannot be combined with URLs"),
        (("--rules", "other", "a:b"), "other"),
    ],
)
def test_options_that_cannot_be_combined_are_a_usage_error(args, message, tmp_path):
    (tmp_path / "request").write_text("x")
    result = invoke("explain", *(arg.replace("FILE", str(tmp_path / "request")) for arg in args))
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_base_and_body_need_a_request(tmp_path):
    (tmp_path / "file").write_text("x")
    for option in ("--base", "--body"):
        assert invoke("explain", option, str(tmp_path / "file"), "a:b").exit_code == 2


def test_cause_names_a_digest_in_base64url_next_to_a_signature_in_base64(recorded):
    raw = base64.b64encode(hashlib.sha256(BODY).digest())
    url = base64.urlsafe_b64encode(hashlib.sha256(BODY).digest()).rstrip(b"=")
    answer = explain(*recorded((raw, url)), code=1)
    [cause] = answer["causes"]
    assert cause.startswith(f"other Base64: the sender signed sha-256=:{raw.decode()}:; you received sha-256=:")


def test_json_of_a_request_is_one_line_of_ascii(recorded):
    result = invoke("explain", "--json", *recorded())
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["ok"]

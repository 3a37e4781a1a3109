from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.cli.command import answers, invoke, lines, objects, run, usage_error

ANSWER = {"target_uri": "https://a.example/b?c", "authority": "a.example"}
SPELLING = "HTTPS://A.example:443/%62?c"


def test_dash_writes_one_canonical_form_per_line():
    done = run("canonicalize", "-", stdin=lines(SPELLING, "http://b.example:8080"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert objects(done.stdout) == [ANSWER, {"target_uri": "http://b.example:8080/", "authority": "b.example:8080"}]


def test_malformed_url_gives_its_code_and_rule_and_the_command_continues():
    rejected, answered = answers("canonicalize", "-", stdin=lines("ftp://a.example", SPELLING))
    assert answered == ANSWER
    assert rejected.keys() == {"error", "rule", "message"}
    assert rejected["error"] == "target_uri_malformed"
    assert rejected["rule"]
    assert "ftp" in rejected["message"]


def test_line_is_malformed_when_it_is_not_a_string():
    for answer in answers("canonicalize", "-", stdin=lines(None, 1e308, 10**300, ["https://a.example"], {"url": 1})):
        assert answer == {"error": "line_malformed", "rule": "line", "message": "the line is not a JSON string"}


def test_arguments_give_one_target_uri_per_line():
    result = invoke("canonicalize", SPELLING, "http://b.example")
    assert (result.exit_code, result.stdout) == (0, "https://a.example/b?c\nhttp://b.example/\n")


def test_malformed_argument_goes_to_standard_error_with_exit_1_after_the_valid_ones():
    result = invoke("canonicalize", "ftp://a.example", SPELLING)
    assert (result.exit_code, result.stdout) == (1, "https://a.example/b?c\n")
    assert result.stderr.startswith("target_uri_malformed: ")
    assert result.stderr.count("\n") == 1


def test_dash_is_a_usage_error_when_combined_with_urls():
    for other in ("https://a.example", "--explain"):
        assert "as the only argument" in usage_error("canonicalize", "-", other)
    assert "URL" in usage_error("canonicalize")


def test_argument_is_rejected_without_a_traceback_when_it_is_not_utf_8():
    done = run("canonicalize", b"https://a.example/\xff")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"target_uri_malformed: ")


@given(url=st.text() | st.text(alphabet="htps:/@[]%2F.-\u00fc\ud800\0\x1b\u202e").map("https://".__add__))
def test_any_string_gives_its_canonical_form_or_a_printable_error(url):
    [answer] = answers("canonicalize", "-", stdin=lines(url))
    assert set(answer) in ({"target_uri", "authority"}, {"error", "rule", "message"})
    assert all(text.isascii() and text.isprintable() for text in answer.values())


def test_explain_shows_each_rule_and_the_result_as_text():
    result = invoke("canonicalize", "--explain", SPELLING, "ftp://a.example")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "\n  = https://a.example/b?c  (the result)\nftp://a.example\n  ! web-scheme: " in result.stdout

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests import keys
from tests.cli.way import URL, Way

from undersigned import Policy, profiles
from undersigned.cli.doctor import advice
from undersigned.cli.doctor.probe import Answer, NoAnswer
from undersigned.cli.doctor.spellings import CONTENTS, SPELLINGS

REWRITINGS = [
    pytest.param(spelling, arrives, id=f"{spelling.target} to {arrives}")
    for spelling in SPELLINGS
    for arrives in spelling.rewritings
]


def rewriting(target: str, arrives: str):
    """What makes one target, wherever its prefix puts it, arrive as another."""

    def change(probe):
        start = probe.target.removesuffix(target)
        return replace(probe, target=start + arrives) if start.endswith("/undersigned-doctor") else probe

    return change


def without(*names: str):
    return lambda probe: replace(probe, fields=tuple((n, v) for n, v in probe.fields if n not in names))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH"])
@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/adcp/v1", f"{URL}:8443/api/"])
def test_a_way_that_changes_nothing_has_no_findings(url, method):
    way = Way(origins=(url.removesuffix("/adcp/v1").removesuffix("/api/"),))
    diagnosis = way.diagnosis(url, method=method)
    assert (diagnosis.findings, diagnosis.notes, diagnosis.requests) == ((), (), len(way.sent))
    assert diagnosis.kept[0] == "scheme, Host and prefix"
    contents = len(CONTENTS) if method in {"POST", "PUT", "PATCH"} else 0
    assert len(diagnosis.kept) == 1 + len(SPELLINGS) + contents
    assert {probe.method for probe in way.sent} == ({"GET", method} if contents else {method})


@pytest.mark.parametrize("status", ["200 OK", "204 No Content", "301 Moved", "404 Not Found", "405 No", "500 Oh"])
def test_any_answer_of_the_application_will_do(status):
    assert Way(status=status).diagnosis().findings == ()


@pytest.mark.parametrize(("spelling", "arrives"), REWRITINGS)
def test_a_known_rewriting_is_named_with_what_arrives(spelling, arrives):
    finding = Way(rewriting(spelling.target, arrives)).finding()
    assert (finding.check, finding.advice) == (spelling.name, spelling.advice)
    assert finding.problem == spelling.rewritings[arrives]
    assert finding.sent == f"/undersigned-doctor{spelling.target}"
    assert finding.arrives == f"/undersigned-doctor{arrives}"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.target)
def test_an_unknown_rewriting_is_told_and_points_to_the_log(spelling):
    finding = Way(rewriting(spelling.target, "/else/where")).finding()
    assert (finding.check, finding.problem) == (spelling.name, "it arrives as something else")
    assert finding.advice == f"{spelling.advice}. Else {advice.UNKNOWN_CHANGE}"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.target)
def test_no_spelling_is_a_rewriting_of_itself(spelling):
    known = Way().diagnosis().kept
    assert spelling.name in known
    assert spelling.target not in spelling.rewritings


def test_a_target_decoded_to_raw_bytes_is_told():
    finding = Way(rewriting("/caf%C3%A9", "/caf\xe9")).finding()
    assert (finding.check, finding.arrives) == ("encoded UTF-8", "")
    assert "decoded to raw bytes" in finding.problem


@pytest.mark.parametrize(
    ("status", "words"), [(400, "400 before any verifier"), (302, "redirected (302)"), (502, "502")]
)
def test_a_spelling_that_something_on_the_way_answers_is_told_as_that(status, words):
    finding = Way(lambda probe: Answer(status, "") if "%2F" in probe.target else probe).diagnosis().findings[0]
    assert (finding.check, finding.sent) == ("an encoded slash", "/undersigned-doctor/a%2Fb")
    assert words in finding.problem


def test_a_spelling_refused_for_another_reason_is_told_with_its_code():
    finding = Way(lambda probe: Answer(401, "signature_replayed") if "//" in probe.target else probe).finding()
    assert (finding.problem, finding.advice) == advice.CODES["signature_replayed"]
    unknown = Way(lambda probe: Answer(401, "signature_unheard_of") if "//" in probe.target else probe).finding()
    assert (unknown.problem, unknown.advice) == ("it is refused: signature_unheard_of", advice.LOG)


def test_a_spelling_without_an_answer_is_told_and_the_next_is_looked_at():
    def change(probe):
        if "//" in probe.target:
            raise NoAnswer("nothing comes back for 10 seconds")
        return probe

    diagnosis = Way(change).diagnosis()
    [finding] = diagnosis.findings
    assert finding.problem == "no answer: nothing comes back for 10 seconds"
    assert "a lone question mark" in diagnosis.kept


def test_no_answer_to_the_first_probe_ends_the_examination():
    def change(_probe):
        raise NoAnswer("Connection refused")

    with pytest.raises(NoAnswer, match="refused"):
        Way(change).diagnosis()


@pytest.mark.parametrize(
    ("url", "origin"), [(URL, "http://seller.example.com"), ("http://a.test:81", "https://a.test:81")]
)
def test_an_origin_of_the_other_scheme_is_named_and_the_spellings_are_looked_at_all_the_same(url, origin):
    way = Way(rewriting("/a//b", "/a/b"), origins=(origin,))
    scheme, slashes = way.diagnosis(url).findings
    assert scheme.check == "scheme"
    assert f"write {url.partition(':')[0]}:// in origins=" in scheme.advice
    assert slashes.check == "slashes beside each other"


def test_a_stripped_prefix_the_middleware_does_not_know_of_is_named_with_the_origin_to_set():
    finding = Way(prefix="/api").finding(f"{URL}/api/v1")
    assert (finding.check, finding.advice) == ("prefix", f'name it in the origin: origins=["{URL}/api"]')
    assert "/api is stripped" in finding.problem


def test_a_prefix_that_nothing_strips_is_named():
    finding = Way(origins=(f"{URL}/api",)).finding(f"{URL}/api/v1")
    assert finding.check == "prefix"
    assert "puts /api before a path that has it already" in finding.problem
    assert "server_adds_root_path=True" in finding.advice


def test_a_lost_port_that_is_an_origin_too_is_named():
    way = Way(lambda probe: replace(probe, host="seller.example.com"))
    finding = way.finding(f"{URL}:8443")
    assert (finding.check, finding.advice) == ("Host", advice.HOST)
    assert (finding.sent, finding.arrives) == ("seller.example.com:8443", "seller.example.com")


def test_an_origin_without_the_port_that_clients_use_is_named():
    finding = Way().finding(f"{URL}:8443/api")
    assert finding.advice == f'name the port: origins=["{URL}:8443"]'


@pytest.mark.parametrize("url", [URL, f"{URL}:8443"])
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "app", "user@app", ""])
def test_a_host_that_is_none_of_the_origins_is_told_with_both_causes(url, host):
    way = Way(lambda probe: replace(probe, host=host), origins=(url,))
    finding = way.finding(url)
    assert finding.check == "Host"
    assert "being rewritten on the way, or origins= lacks" in finding.problem
    assert advice.HOST in finding.advice
    assert "received:" in finding.advice


def test_mistakes_that_come_together_are_told_together():
    way = Way(
        lambda probe: replace(probe, host="seller.example.com"), origins=("http://seller.example.com",), prefix="/api"
    )
    assert [finding.check for finding in way.diagnosis(f"{URL}:8443/api").findings] == ["scheme", "Host", "prefix"]


def test_a_change_that_is_none_of_the_known_ones_points_to_the_log():
    finding = Way(lambda probe: replace(probe, target=f"/inner{probe.target}")).finding()
    assert (finding.check, finding.advice) == ("a plain request", advice.UNKNOWN_CHANGE)
    assert "another key under this kid" in finding.problem


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (without("Signature", "Signature-Input"), "signature_required"),
        (without("Signature"), "signature_header_malformed"),
        (lambda probe: replace(probe, content=b"added"), "signature_components_incomplete"),
    ],
)
def test_signature_fields_or_framing_changed_on_the_way_are_told(change, code):
    finding = Way(change).finding()
    assert (finding.problem, finding.advice) == advice.CODES[code]


def test_a_key_the_server_does_not_know_ends_the_examination():
    way = Way()
    stranger = keys.SigningKey.from_jwk(keys.OTHER_PRIVATE)
    [finding] = way.diagnosis(key=stranger).findings
    assert (finding.problem, finding.advice) == advice.CODES["signature_key_unknown"]
    assert len(way.sent) == 2


def test_another_profile_is_told():
    [finding] = Way().diagnosis(profile=profiles.ADCP_3_1).findings
    assert finding.check == "a plain request"
    [finding] = Way().diagnosis(profile=replace(profiles.ADCP_3_2, tag="other")).findings
    assert (finding.problem, finding.advice) == advice.CODES["signature_tag_invalid"]


def test_a_profile_that_covers_content_always_gets_probes_with_a_content_type():
    verifier = keys.verifier(profiles.ADCP_WEBHOOK, clock=time.time)
    diagnosis = Way(options={"verifier": verifier}).diagnosis(profile=profiles.ADCP_WEBHOOK, method="POST")
    assert diagnosis.findings == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [(Answer(404, ""), "404 before any verifier"), (Answer(307, ""), "redirected"), (Answer(503, ""), "503")],
)
def test_a_url_that_no_verifier_stands_before_is_told_and_ends_the_examination(answer, words):
    way = Way(lambda _probe: answer)
    diagnosis = way.diagnosis()
    assert words in diagnosis.findings[0].problem
    assert (diagnosis.requests, len(diagnosis.findings)) == (3, 1)


@pytest.mark.parametrize("mode", ["optional", "observe"])
def test_a_mode_that_passes_unsigned_requests_on_is_noted_and_is_no_finding(mode):
    diagnosis = Way(options={"mode": mode}).diagnosis()
    assert diagnosis.findings == ()
    assert "an unsigned request is answered 404;" in diagnosis.notes[0]


def test_what_a_policy_refuses_behind_a_signature_that_held_is_no_finding():
    policy = {"policy": Policy(required_for=["create_media_buy"])}
    assert Way(options=policy).diagnosis(method="POST").findings == ()
    decoding = Way(rewriting("/a%2F..%2Fb", "/b"), options=policy)
    assert decoding.finding().check == "dots between encoded slashes"


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content.name)
@pytest.mark.parametrize("at", range(len(CONTENTS[0].rewritings)))
def test_content_altered_in_a_known_way_is_named(content, at):
    arrives, happened = list(content.rewritings.items())[at]

    def change(probe):
        return replace(probe, content=arrives) if probe.content and probe.chunked == content.chunked else probe

    finding = Way(change).finding(method="POST")
    assert (finding.check, finding.problem, finding.advice) == (content.name, happened, advice.CONTENT)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda probe: replace(probe, content=b"{}"), "it is altered"),
        (
            lambda probe: replace(probe, fields=tuple((n, v.replace("json", "xml")) for n, v in probe.fields)),
            "Content-Type or Content-Digest is rewritten",
        ),
        (lambda _probe: Answer(413, "content_too_large"), "it is refused: content_too_large"),
        (lambda _probe: Answer(411, ""), "it is answered 411 before any verifier sees it"),
    ],
)
def test_content_that_does_not_come_through_is_told(change, problem):
    way = Way(lambda probe: change(probe) if probe.content else probe)
    diagnosis = way.diagnosis(method="POST")
    assert [finding.problem for finding in diagnosis.findings] == [problem] * len(CONTENTS)


def test_chunks_that_the_server_shows_to_nobody_are_told():
    finding = Way(terminated=False).finding(method="PUT")
    assert (finding.check, finding.advice) == ("content in chunks", advice.CHUNKS)


def test_everything_that_is_sent_goes_below_one_path_segment_and_to_the_authority_of_the_url():
    way = Way(origins=("https://other.example",))
    for url in (URL, f"{URL}:8443/a/b", f"{URL}/c"):
        way.diagnosis(url, method="POST")
    for probe in way.sent:
        assert "/undersigned-doctor/" in probe.target
        assert probe.host.partition(":")[0] == "seller.example.com"

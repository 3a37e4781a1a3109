from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests import keys
from tests.cli.route import URL, Route

from undersigned import Policy, profiles
from undersigned.cli.doctor import checks as advice
from undersigned.cli.doctor.checks import CONTENTS, SPELLINGS
from undersigned.cli.http import NoAnswer, Verdict
from undersigned.reasons import REASONS
from undersigned.signature.rules import Selection

REWRITINGS = [
    pytest.param(spelling, arrives, id=f"{spelling.target} to {arrives}")
    for spelling in SPELLINGS
    for arrives in spelling.rewritings
]


def rewriting(target: str, arrives: str):
    """Return a change that makes one target, after any prefix, arrive as another."""

    def change(probe):
        start = probe.target.removesuffix(target)
        return replace(probe, target=start + arrives) if start.endswith("/undersigned-doctor") else probe

    return change


def without(*names: str):
    return lambda probe: replace(probe, fields=tuple((n, v) for n, v in probe.fields if n not in names))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH"])
@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/adcp/v1", f"{URL}:8443/api/"])
def test_route_without_changes_has_no_findings(url, method):
    route = Route(origins=(url.removesuffix("/adcp/v1").removesuffix("/api/"),))
    diagnosis = route.diagnosis(url, method=method)
    assert (diagnosis.findings, diagnosis.notes, diagnosis.requests) == ((), (), len(route.sent))
    assert diagnosis.passed[0] == "scheme, Host and prefix"
    contents = len(CONTENTS) if method in {"POST", "PUT", "PATCH"} else 0
    assert len(diagnosis.passed) == 1 + len(SPELLINGS) + contents
    assert {probe.method for probe in route.sent} == ({"GET", method} if contents else {method})


@pytest.mark.parametrize("status", ["200 OK", "204 No Content", "301 Moved", "404 Not Found", "405 No", "500 Oh"])
def test_any_status_of_the_application_is_enough(status):
    assert Route(status=status).diagnosis().findings == ()


@pytest.mark.parametrize(("spelling", "arrives"), REWRITINGS)
def test_known_rewriting_is_named_with_the_target_that_arrives(spelling, arrives):
    finding = Route(rewriting(spelling.target, arrives)).finding()
    assert (finding.check, finding.advice) == (spelling.name, spelling.advice)
    assert finding.problem == spelling.rewritings[arrives]
    assert finding.sent == f"/undersigned-doctor{spelling.target}"
    assert finding.arrives == f"/undersigned-doctor{arrives}"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.target)
def test_unknown_rewriting_is_reported_and_refers_to_the_log(spelling):
    finding = Route(rewriting(spelling.target, "/else/where")).finding()
    assert (finding.check, finding.problem) == (spelling.name, "it arrives changed in an unknown way")
    assert finding.advice == f"{spelling.advice}. Or {advice.UNKNOWN_CHANGE}"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.target)
def test_spelling_is_never_its_own_rewriting(spelling):
    known = Route().diagnosis().passed
    assert spelling.name in known
    assert spelling.target not in spelling.rewritings


def test_target_decoded_to_raw_bytes_is_reported():
    finding = Route(rewriting("/caf%C3%A9", "/caf\xe9")).finding()
    assert (finding.check, finding.arrives) == ("encoded UTF-8", "")
    assert "decoded to raw bytes" in finding.problem


@pytest.mark.parametrize(
    ("status", "words"), [(400, "400, before it is verified"), (302, "redirected (302)"), (502, "502")]
)
def test_spelling_is_reported_as_not_verified_when_something_else_answers(status, words):
    finding = Route(lambda probe: Verdict(status, "") if "%2F" in probe.target else probe).diagnosis().findings[0]
    assert (finding.check, finding.sent) == ("an encoded slash", "/undersigned-doctor/a%2Fb")
    assert words in finding.problem


def test_spelling_is_reported_with_its_code_when_rejected_for_another_reason():
    finding = Route(lambda probe: Verdict(401, "signature_replayed") if "//" in probe.target else probe).finding()
    assert (finding.problem, finding.advice) == REASONS["signature_replayed"][:2]
    unknown = Route(lambda probe: Verdict(401, "signature_unheard_of") if "//" in probe.target else probe).finding()
    assert (unknown.problem, unknown.advice) == ("it is rejected: signature_unheard_of", advice.LOG)


def test_spelling_without_an_answer_is_reported_and_the_next_is_examined():
    def change(probe):
        if "//" in probe.target:
            raise NoAnswer("no data for 10 seconds")
        return probe

    diagnosis = Route(change).diagnosis()
    [finding] = diagnosis.findings
    assert finding.problem == "no answer: no data for 10 seconds"
    assert "a question mark without a query" in diagnosis.passed


def test_examination_ends_when_the_first_probe_gets_no_answer():
    def change(_probe):
        raise NoAnswer("Connection refused")

    with pytest.raises(NoAnswer, match="refused"):
        Route(change).diagnosis()


@pytest.mark.parametrize(
    ("url", "origin"), [(URL, "http://seller.example.com"), ("http://a.test:81", "https://a.test:81")]
)
def test_origin_with_the_other_scheme_is_reported_and_spellings_are_still_examined(url, origin):
    route = Route(rewriting("/a//b", "/a/b"), origins=(origin,))
    scheme, slashes = route.diagnosis(url).findings
    assert scheme.check == "scheme"
    assert f"write {url.partition(':')[0]}:// in origins=" in scheme.advice
    assert slashes.check == "repeated slashes"


def test_unconfigured_stripped_prefix_is_reported_with_the_origin_to_set():
    finding = Route(prefix="/api").finding(f"{URL}/api/v1")
    assert (finding.check, finding.advice) == ("prefix", f'add the prefix: origins=["{URL}/api"]')
    assert "/api is stripped" in finding.problem


def test_configured_prefix_is_reported_when_no_proxy_strips_it():
    finding = Route(origins=(f"{URL}/api",)).finding(f"{URL}/api/v1")
    assert finding.check == "prefix"
    assert "adds /api to a path that already has it" in finding.problem
    assert "server_adds_root_path=True" in finding.advice


def test_lost_port_is_reported_when_the_bare_host_is_also_an_origin():
    route = Route(lambda probe: replace(probe, host="seller.example.com"))
    finding = route.finding(f"{URL}:8443")
    assert (finding.check, finding.advice) == ("Host", advice.HOST)
    assert (finding.sent, finding.arrives) == ("seller.example.com:8443", "seller.example.com")


def test_origin_is_reported_when_it_lacks_the_port_of_clients():
    finding = Route().finding(f"{URL}:8443/api")
    assert finding.advice == f'add the port: origins=["{URL}:8443"]'


@pytest.mark.parametrize("url", [URL, f"{URL}:8443"])
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "app", "user@app", ""])
def test_unlisted_host_is_reported_with_both_possible_causes(url, host):
    route = Route(lambda probe: replace(probe, host=host), origins=(url,))
    finding = route.finding(url)
    assert finding.check == "Host"
    assert ", or origins= lacks" in finding.problem
    assert advice.HOST in finding.advice
    assert "received:" in finding.advice


def test_several_mistakes_are_reported_together():
    route = Route(
        lambda probe: replace(probe, host="seller.example.com"), origins=("http://seller.example.com",), prefix="/api"
    )
    assert [finding.check for finding in route.diagnosis(f"{URL}:8443/api").findings] == ["scheme", "Host", "prefix"]


def test_unknown_change_of_a_plain_request_refers_to_the_log():
    finding = Route(lambda probe: replace(probe, target=f"/inner{probe.target}")).finding()
    assert (finding.check, finding.advice) == ("a plain request", advice.UNKNOWN_CHANGE)
    assert "another key with this kid" in finding.problem


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (without("Signature", "Signature-Input"), "signature_required"),
        (without("Signature"), "signature_header_malformed"),
        (lambda probe: replace(probe, content=b"added"), "signature_components_incomplete"),
    ],
)
def test_changed_signature_fields_or_framing_are_reported(change, code):
    finding = Route(change).finding()
    known = REASONS[code]
    # The doctor does not advise to ask the doctor.
    told = advice.LOG if code == "signature_header_malformed" else known.sender
    assert (finding.problem, finding.advice) == (known.meaning, told)


def test_examination_ends_when_the_key_is_unknown():
    route = Route()
    stranger = keys.SigningKey.from_jwk(keys.OTHER_PRIVATE)
    [finding] = route.diagnosis(key=stranger).findings
    assert (finding.problem, finding.advice) == REASONS["signature_key_unknown"][:2]
    assert len(route.sent) == 2


def test_wrong_profile_is_reported():
    [finding] = Route().diagnosis(profile=profiles.ADCP_3_1).findings
    assert finding.check == "a plain request"
    [finding] = Route().diagnosis(profile=profiles.ADCP_3_2.derive(selection=Selection(tags=("other",)))).findings
    assert (finding.problem, finding.advice) == REASONS["signature_tag_invalid"][:2]


def test_probes_have_a_content_type_when_the_profile_requires_it():
    verifier = keys.verifier(profiles.ADCP_WEBHOOK, clock=time.time)
    diagnosis = Route(options={"verifier": verifier}).diagnosis(profile=profiles.ADCP_WEBHOOK, method="POST")
    assert diagnosis.findings == ()


@pytest.mark.parametrize(
    ("answer", "words"),
    [(Verdict(404, ""), "404, before it is verified"), (Verdict(307, ""), "redirected"), (Verdict(503, ""), "503")],
)
def test_examination_ends_when_no_verifier_answers(answer, words):
    route = Route(lambda _probe: answer)
    diagnosis = route.diagnosis()
    assert words in diagnosis.findings[0].problem
    assert (diagnosis.requests, len(diagnosis.findings)) == (3, 1)


@pytest.mark.parametrize("mode", ["optional", "observe"])
def test_mode_that_accepts_unsigned_requests_is_a_note_and_not_a_finding(mode):
    diagnosis = Route(options={"mode": mode}).diagnosis()
    assert diagnosis.findings == ()
    assert "an unsigned request is answered with 404;" in diagnosis.notes[0]


def test_rejection_by_the_policy_after_a_valid_signature_is_not_a_finding():
    policy = {"policy": Policy(required_for=["create_media_buy"])}
    assert Route(options=policy).diagnosis(method="POST").findings == ()
    decoding = Route(rewriting("/a%2F..%2Fb", "/b"), options=policy)
    assert decoding.finding().check == "dots between encoded slashes"


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content.name)
@pytest.mark.parametrize("at", range(len(CONTENTS[0].rewritings)))
def test_known_change_of_content_is_named(content, at):
    arrives, happened = list(content.rewritings.items())[at]

    def change(probe):
        return replace(probe, content=arrives) if probe.content and probe.chunked == content.chunked else probe

    finding = Route(change).finding(method="POST")
    assert (finding.check, finding.problem, finding.advice) == (content.name, happened, advice.CONTENT)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda probe: replace(probe, content=b"{}"), "it arrives changed"),
        (
            lambda probe: replace(probe, fields=tuple((n, v.replace("json", "xml")) for n, v in probe.fields)),
            "Content-Type or Content-Digest is rewritten",
        ),
        (lambda _probe: Verdict(413, "content_too_large"), "it is rejected: content_too_large"),
        (lambda _probe: Verdict(411, ""), "the answer is 411, before it is verified"),
    ],
)
def test_content_that_does_not_arrive_intact_is_reported(change, problem):
    route = Route(lambda probe: change(probe) if probe.content else probe)
    diagnosis = route.diagnosis(method="POST")
    assert [finding.problem for finding in diagnosis.findings] == [problem] * len(CONTENTS)


def test_chunked_content_is_reported_when_the_server_hides_it():
    finding = Route(terminated=False).finding(method="PUT")
    assert (finding.check, finding.advice) == ("content in chunks", advice.CHUNKS)


def test_all_probes_go_to_the_authority_of_the_url_below_one_path_segment():
    route = Route(origins=("https://other.example",))
    for url in (URL, f"{URL}:8443/a/b", f"{URL}/c"):
        route.diagnosis(url, method="POST")
    for probe in route.sent:
        assert "/undersigned-doctor/" in probe.target
        assert probe.host.partition(":")[0] == "seller.example.com"

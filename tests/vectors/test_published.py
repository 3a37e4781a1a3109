"""Every published vector, run as `python -m tests.conformance` runs it: one function for each published set."""

from __future__ import annotations

import shutil

import pytest
from tests.conformance.__main__ import run
from tests.conformance.corpus import find, read
from tests.vectors.corpora import PUBLISHED, ROOT, params

SETS = {
    "request-signing": 46,
    "request-signing/profile-3.2": 46,
    "request-signing/a2a": 33,
    "webhook-signing": 29,
    "request-signing/canonicalization": 41,
    "request-signing/body-integrity-policy": 17,
    "request-signing/protocol-method-names": 21 + 7 + 8,
    "rfc9421_vectors": 156 + 19 + 20,
    "web_bot_auth_vectors": 8 + 27 + 5 + 3,
    "profiles/fediverse/fediverse_vectors": 2 * 3,
    "profiles/gnap/rfc9635_httpsig": 2,
    "profiles/web-bot-auth/directory_response_E.2.3": 1,
    "profiles/web-bot-auth/jwk_thumbprint_vectors": 2,
    "profiles/web-bot-auth/negative_vectors_protocol_02": 8,
    "profiles/web-bot-auth/web_bot_auth_architecture_v1": 4,
    "profiles/web-bot-auth/web_bot_auth_architecture_v2": 4,
    "profiles/web-bot-auth/web_bot_auth_registry_v1": 2,
    "profiles/web-bot-auth/web_bot_auth_signature_agent_card_v1": 4,
    "profiles/web-bot-auth/web_bot_auth_signature_agent_v1": 3,
    "profiles/ssrf/special_ranges": 29,
    "profiles/wimse/sigs-request": 1,
    "profiles/wimse/sigs-response": 2,
}
WEB_BOT_AUTH = tuple(name for name in SETS if name.startswith(("web_bot_auth", "profiles/web-bot-auth")))


@pytest.mark.parametrize("case", params(PUBLISHED, "request-signing"))
def test_adcp_3_1_request_has_its_outcome_and_base(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "request-signing/profile-3.2"))
def test_adcp_3_2_request_has_its_outcome_and_base(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "request-signing/a2a"))
def test_adcp_call_over_a2a_has_its_outcome_and_operation(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "webhook-signing"))
def test_adcp_webhook_has_its_outcome_and_base(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "canonicalization"))
def test_adcp_url_has_its_canonical_form_or_error(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "body-integrity-policy"))
def test_adcp_policy_decides_about_a_request_as_published(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "protocol-method-names"))
def test_adcp_method_is_listed_or_matched_as_published(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "rfc9421_vectors"))
def test_rfc_9421_component_base_or_signature_is_as_published(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, *WEB_BOT_AUTH))
def test_web_bot_auth_vector_is_as_published(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "fediverse_vectors"))
def test_fediverse_request_is_verified_by_both_schemes(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "rfc9635_httpsig"))
def test_gnap_request_is_verified(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "sigs-request", "sigs-response"))
def test_wimse_message_is_verified(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "wire-examples"))
def test_published_wire_example_has_its_base_and_is_verified_by_its_profile(case):
    case.check()


@pytest.mark.parametrize("case", params(PUBLISHED, "special_ranges"))
def test_special_addresses_are_rejected(case):
    case.check()


def test_every_published_vector_has_a_copy_and_is_run():
    counts = {name: len(PUBLISHED.sets(name)) for name in SETS}
    assert counts == SETS
    examples = PUBLISHED.sets("profiles/wire-examples")
    assert sum(not case.name.endswith("verdict") for case in examples) == 13
    assert len(PUBLISHED.cases) == sum(SETS.values()) + len(examples)
    assert not PUBLISHED.not_run


def test_vectors_are_known_in_any_place_and_by_any_name(tmp_path):
    for number, path in enumerate(sorted(path for path in ROOT.rglob("*") if path.suffix in {".json", ".txt"})):
        place = tmp_path / path.parent.relative_to(ROOT).as_posix().replace("/", "-")[::-1]
        place.mkdir(exist_ok=True)
        shutil.copy(path, place / f"{number}{path.suffix}")
    report = run(find(read(tmp_path)))
    assert (report["passed"], report["failures"], report["not_run"]) == (len(PUBLISHED.cases), [], [])

"""Every published vector, run as `python -m tests.conformance` runs it: one test for each set."""

from __future__ import annotations

import shutil

import pytest
from tests.conformance.__main__ import run
from tests.conformance.corpus import find, read
from tests.conformance.messages import PROFILES
from tests.vectors.corpora import PUBLISHED, ROOT, check_each, of_sets

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
    "profiles/web-bot-auth/web_bot_auth_signature_agent_card_v1": 4,
    "profiles/web-bot-auth/web_bot_auth_signature_agent_v1": 3,
    "profiles/ssrf/special_ranges": 29,
    "profiles/fediverse/fedify-2.3.8": 4,
    "profiles/ucp/merchant-2026-04-08": 8,
    "profiles/wimse/sigs-request": 1,
    "profiles/wimse/sigs-response": 2,
}


@pytest.mark.parametrize("cases", of_sets(PUBLISHED.cases))
def test_published_vectors_have_their_outcome(cases):
    check_each(cases, lambda case: case.check())


def test_every_published_vector_has_a_copy_and_is_run():
    counts = {name: len(PUBLISHED.sets(name)) for name in SETS}
    assert counts == SETS
    examples = PUBLISHED.sets("profiles/wire-examples")
    assert sum(not case.name.endswith("verdict") for case in examples) == len(PROFILES)
    assert len(PUBLISHED.cases) == sum(SETS.values()) + len(examples)
    assert not PUBLISHED.not_run


def test_vectors_are_known_in_any_place_and_by_any_name(tmp_path):
    for number, path in enumerate(sorted(path for path in ROOT.rglob("*") if path.suffix in {".json", ".txt"})):
        place = tmp_path / path.parent.relative_to(ROOT).as_posix().replace("/", "-")[::-1]
        place.mkdir(exist_ok=True)
        shutil.copy(path, place / f"{number}{path.suffix}")
    report = run(find(read(tmp_path)))
    assert (report["passed"], report["failures"], report["not_run"]) == (len(PUBLISHED.cases), [], [])

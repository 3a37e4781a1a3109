"""Every published vector, run as `undersigned conformance` runs it."""

from __future__ import annotations

import shutil

import pytest
from tests.vectors.corpora import ADCP, PUBLISHED, ROOT, published_params

from undersigned.conformance import find, grade


@pytest.mark.parametrize("vector", published_params())
def test_published_vector_has_its_published_outcome(vector):
    assert grade(vector).difference is None


def test_every_published_vector_has_a_copy():
    assert {found.name.removeprefix(ADCP): len(found.vectors) for found in PUBLISHED.sets} == {
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
        # Each message, and each request's verdict by its profile.
        "profiles/wire-examples": 15 + 15,
    }


def test_every_published_vector_is_run():
    assert PUBLISHED.set_aside == []


def test_vectors_are_known_in_any_place_and_by_any_name(tmp_path):
    for number, path in enumerate(sorted(path for path in ROOT.rglob("*") if path.suffix in {".json", ".txt"})):
        place = tmp_path / path.parent.relative_to(ROOT).as_posix().replace("/", "-")[::-1]
        place.mkdir(exist_ok=True)
        shutil.copy(path, place / f"{number}{path.suffix}")
    moved = find(tmp_path)
    assert len(moved) == len(PUBLISHED)
    asides = [sum(aside.count for aside in corpus.set_aside) for corpus in (moved, PUBLISHED)]
    assert asides[0] == asides[1]
    assert [vector.name for found in moved.sets for vector in found.vectors if not grade(vector).passed] == []

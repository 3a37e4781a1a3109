"""The project's own vectors: made by their recipes, graded by the library, and complete."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, get_args

import pytest
from tests.vectors import make_own
from tests.vectors.corpora import OWN, SIGNING, params
from tests.vectors.recipes.keys import WARNING

from undersigned.conformance import grade
from undersigned.conformance.signing import SigningVector
from undersigned.conformance.verdict import VerdictCase
from undersigned.errors import Reason
from undersigned.policy.policy import Demand
from undersigned.url import ADCP_RECEIVED

if TYPE_CHECKING:
    from undersigned.conformance.body_integrity import BodyIntegrityFact
    from undersigned.conformance.result import Result

SIGNED = params(OWN, which=lambda vector: isinstance(vector, SigningVector))

NO_MESSAGE = {
    "signature_capabilities_unreachable": "a discovery source reports it: tests/discovery",
    "signature_brand_json_url_missing": "a discovery source reports it: tests/discovery",
    "signature_brand_json_unreachable": "a discovery source reports it: tests/discovery",
    "signature_brand_json_malformed": "a discovery source reports it: tests/discovery",
    "signature_brand_origin_mismatch": "a discovery source reports it: tests/discovery",
    "signature_agent_not_in_brand_json": "a discovery source reports it: tests/discovery",
    "signature_brand_json_ambiguous": "a discovery source reports it: tests/discovery",
    "signature_key_origin_mismatch": "a discovery source reports it: tests/discovery",
    "signature_key_origin_missing": "a discovery source reports it: tests/discovery",
    "signature_jwks_untrusted": "a discovery source reports it: tests/discovery",
    "signature_server_unsupported": "the server under the middlewares causes it, whatever the message says",
    "signature_params_unexpected": "the AdCP profiles forbid no parameter: tests/profiles",
    "signature_identity_missing": "the AdCP profiles ask for no header field: tests/profiles",
    "signature_identity_malformed": "a discovery source reports it: tests/discovery",
    "signature_jwks_malformed": "a discovery source reports it: tests/discovery",
}
"""The reasons that nothing in a message and nothing a verifier is given can cause."""

NOT_OF_THE_PROFILE = {
    "request-signing": {},
    "request-signing/profile-3.2": {"signature_components_unexpected": "it requires the digest that this forbids"},
    "webhook-signing": {"signature_components_unexpected": "it requires the digest that this forbids"},
}
"""The reasons that a profile has no use for."""


class GradedOnce(SigningVector):
    """A vector that keeps its result, so that one run of it gives the grade and the step."""

    @functools.cached_property
    def _graded(self) -> Result:
        return super().result()

    def result(self) -> Result:
        return self._graded


@pytest.mark.parametrize("vector", SIGNED)
def test_signing_vector_has_the_outcome_and_step_of_its_recipe(vector):
    once = GradedOnce(vector.name, vector.document, vector.endpoint, vector.published)
    assert grade(once).difference is None
    error = once.result().error
    assert (None if error is None else error.step) == vector.expected.members.get("failed_step")


@pytest.mark.parametrize("vector", params(OWN, which=lambda vector: not isinstance(vector, SigningVector)))
def test_case_or_fact_has_the_outcome_of_its_recipe(vector):
    assert grade(vector).difference is None


@pytest.fixture(scope="module")
def made() -> dict[str, dict[str, object]]:
    return make_own.documents()


def test_files_equal_the_output_of_the_recipes(made, monkeypatch, capsys):
    monkeypatch.setattr(make_own, "documents", lambda: made)
    assert make_own.main("--check") == 0, capsys.readouterr().out + "run: python -m tests.vectors.make_own"


def test_profiles_of_which_nobody_published_enough_have_verdicts_of_both_kinds():
    verdicts = [vector for vector in OWN["profiles/wire-examples"].vectors if isinstance(vector, VerdictCase)]
    assert {(verdict.profile.name, verdict.expected) for verdict in verdicts} == {
        (name, outcome) for name in ("gnap-rotation", "wimse-response") for outcome in ("verified", "invalid")
    }


def test_no_own_vector_is_set_aside():
    assert not OWN.set_aside


def test_running_the_recipes_again_keeps_ecdsa_signatures_and_writes_nothing(made, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(make_own, "documents", lambda: made)
    stale, changed, absent = (f"request-signing/positive/{name}.json" for name in ("stale", "ed25519", "query"))
    kept = "request-signing/positive/es256.json"
    for path in make_own.OWN.rglob("*.json"):
        name = path.relative_to(make_own.OWN).as_posix()
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(path.read_bytes())
    before = (tmp_path / kept).read_bytes()
    (tmp_path / stale).write_text("{}")
    (tmp_path / changed).write_text("{}")
    (tmp_path / absent).unlink()
    monkeypatch.setattr(make_own, "OWN", tmp_path)
    assert make_own.main("--check") == 1
    assert capsys.readouterr().out.splitlines() == [
        f"not as its recipe makes it: {name}" for name in (changed, absent, stale)
    ]
    assert make_own.main() == 0
    assert "2 written, 1 removed" in capsys.readouterr().out
    assert (tmp_path / kept).read_bytes() == before
    assert make_own.main("--check") == 0


def test_every_reason_a_message_can_cause_has_a_vector():
    held = {vector.code.partition("_")[2] for vector in by_set(*(found.name for found in OWN.sets)) if vector.code}
    assert held == set(get_args(Reason)) - NO_MESSAGE.keys()


@pytest.mark.parametrize("name", SIGNING)
def test_every_reason_has_a_vector_under_every_profile(name):
    held = {vector.code.partition("_")[2] for vector in by_set(name) if vector.code}
    assert held == set(get_args(Reason)) - NO_MESSAGE.keys() - NOT_OF_THE_PROFILE[name].keys()


@pytest.mark.parametrize("name", SIGNING)
def test_every_step_of_the_checklist_rejects_a_vector_under_every_profile(name):
    steps = {vector.expected.members["failed_step"] for vector in by_set(name) if vector.code}
    assert steps == {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "9a", 10, 11, 12, 13, 14}


@pytest.mark.parametrize("name", SIGNING)
def test_every_profile_accepts_both_algorithms_and_both_digests(name):
    accepted = [vector.result().signature for vector in by_set(name) if vector.code is None]
    signed = [signature for signature in accepted if signature is not None]
    assert {signature.algorithm for signature in signed} == {"ed25519", "ecdsa-p256-sha256"}
    bases = "\n".join(signature.signature_base for signature in signed)
    assert '"content-digest": sha-256=:' in bases
    assert '"content-digest": sha-512=:' in bases
    assert ", sha-512=:" in bases
    assert {signature.label for signature in signed} == {"sig1", "own"}


def test_every_digest_policy_has_vectors_in_its_profile():
    policies = {vector.profile.digest.policy for vector in by_set("request-signing")}
    assert policies == {"required", "forbidden", "either"}


def test_every_rule_of_the_canonicalizer_has_a_case():
    rules = {rule for case in OWN["request-signing/canonicalization"].vectors for rule in case_rules(case)}
    assert rules == {rule.name for rule in ADCP_RECEIVED}


def test_policy_table_has_every_list_signature_and_credential():
    facts = [fact for fact in OWN["request-signing/body-integrity-policy"].vectors if is_of_the_table(fact)]
    cells = {
        (fact.document.text("mode"), signature_state(fact), fact.document.flag("fallback_auth_valid")) for fact in facts
    }
    modes = {fact.document.text("mode") for fact in facts}
    assert len(cells) == len(modes) * 6 * 2
    assert len(facts) == len(cells) * 2
    demands = {mode.removeprefix("protocol_methods_").removesuffix("_for") for mode in modes}
    assert demands == set(get_args(Demand))


def test_key_file_says_that_its_keys_are_public():
    for name in ("request-signing", "webhook-signing"):
        assert json.loads((make_own.OWN / name / "keys.json").read_text())["_WARNING"] == WARNING


def by_set(*names: str) -> list[SigningVector]:
    return [vector for name in names for vector in OWN[name].vectors if isinstance(vector, SigningVector)]


def case_rules(case) -> list[str]:
    return [rule for rule in case.document.text("rule").split(", ") if rule]


def is_of_the_table(fact: BodyIntegrityFact) -> bool:
    return fact.name.startswith(fact.document.text("mode")) and "-fallback" in fact.name


def signature_state(fact: BodyIntegrityFact) -> str:
    return fact.name.removeprefix(fact.document.text("mode")).partition("-with")[0]

"""An application reads a covered field as the signature base has it, and other fields as they came."""

from __future__ import annotations

from tests.drive import Message
from tests.keys import BARE, NOW, ORIGIN, covering, hostile_request
from tests.middleware.gate import OverASGI

from undersigned import Request, Signer, profiles
from undersigned.signature.rules import CoverageRule

PROFILE = profiles.GNAP.derive(coverage=CoverageRule(if_sent=("x-order",)))


def sent(party, came):
    signer = Signer(party.key, profile=PROFILE)
    signed = signer.sign(Request("GET", f"{ORIGIN}/p", came))
    return Message("/p", "GET", [*came, *signed])


def seen(gate, message) -> list[str]:
    """The values of X-Order and X-Note that the application gets."""
    assert gate.send(message, b"").status == 200
    context = gate.calls[0].context
    if isinstance(gate, OverASGI):
        return [value.decode() for name, value in context["headers"] if name in {b"x-order", b"x-note"}]
    return [context["HTTP_X_ORDER"], context["HTTP_X_NOTE"]]


def test_covered_field_is_one_line_without_white_space_at_its_ends(party):
    lines = [("x-order", " a "), ("x-order", "\tb"), ("x-note", " n ")]
    assert seen(OverASGI(party, profile=PROFILE), sent(party, lines)) == ["a, b", " n "]


def test_covered_value_has_no_white_space_at_its_ends(side, party):
    assert seen(side(profile=PROFILE), sent(party, [("x-order", " a "), ("x-note", " n ")])) == ["a", " n "]


def test_field_covered_line_by_line_keeps_its_lines(party):
    lines = [("x-order", " a"), ("x-note", " m "), ("x-note", "n")]
    covered = covering(*BARE, "x-order", '"x-note";bs', keyid='"buyer-2026"', alg=None, tag='"gnap"')
    signed = hostile_request(Request("GET", f"{ORIGIN}/p", lines), covered, key=party.key)
    message = Message("/p", "GET", [*lines, *list(signed.fields)[-2:]])
    verifier = party.verifier(PROFILE, clock=lambda: NOW)
    assert seen(OverASGI(party, verifier=verifier), message) == ["a", "m", "n"]

"""Requests that are signed already: which of their signatures stay when one more is made over them."""

from __future__ import annotations

from undersigned.client.over import kept_signature, together
from undersigned.profiles import GNAP_ROTATION


def test_signature_of_an_earlier_try_is_left_out_and_every_other_one_kept():
    fields = [
        ("Signature-Input", 'gnap=("@method"), rotation=("@method"), other=()'),
        ("Signature", "gnap=:AA==:, rotation=:AQ==:, other=:Ag==:"),
    ]
    assert list(kept_signature(fields, b"", GNAP_ROTATION)) == [
        ("Signature-Input", 'gnap=("@method"), other=()'),
        ("Signature", "gnap=:AA==:, other=:Ag==:"),
    ]


def test_two_signatures_without_content_have_no_digest():
    first = {"signature-input": "gnap=()", "signature": "gnap=:AA==:"}
    assert together(first, [("Signature-Input", "rotation=()"), ("Signature", "rotation=:AQ==:")]) == (
        ("Signature-Input", "gnap=(), rotation=()"),
        ("Signature", "gnap=:AA==:, rotation=:AQ==:"),
    )

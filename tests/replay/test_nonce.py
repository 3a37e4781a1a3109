from __future__ import annotations

import pytest

from undersigned.replay import bounded_nonce


@pytest.mark.parametrize("nonce", ["n", "KXYnfEfJ0PBRZXQyVXfVQA", "n" * 32])
def test_nonce_of_up_to_32_characters_is_kept_unchanged(nonce):
    assert bounded_nonce(nonce) == nonce


def test_any_other_nonce_is_kept_as_64_characters_of_its_own():
    others = ["", "n" * 33, "n" * 1_000_000, "\ud800" * 40, "n" * 100 + "a", "n" * 100 + "b", bounded_nonce("n" * 100)]
    kept = {bounded_nonce(nonce) for nonce in others}
    assert {len(nonce) for nonce in kept} == {64}
    assert len(kept - {*others}) == len(others)

from __future__ import annotations

import pytest

from undersigned.replay import bounded_nonce


@pytest.mark.parametrize("nonce", ["n", "KXYnfEfJ0PBRZXQyVXfVQA", "n" * 32])
def test_nonce_of_up_to_32_characters_is_kept_unchanged(nonce):
    assert bounded_nonce(nonce) == nonce


@pytest.mark.parametrize("nonce", ["", "n" * (33), "n" * 1_000_000, "\ud800" * 40])
def test_any_other_nonce_is_kept_as_64_characters(nonce):
    assert len(bounded_nonce(nonce)) == 64


def test_long_nonces_that_differ_in_the_last_character_are_kept_apart():
    assert bounded_nonce("n" * 100 + "a") != bounded_nonce("n" * 100 + "b")


def test_nonce_and_its_digest_are_kept_apart():
    digest = bounded_nonce("n" * 100)
    assert bounded_nonce(digest) != digest

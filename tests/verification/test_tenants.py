"""Several owners of keys with one name: one of them neither rejects nor delays the requests of another."""

from __future__ import annotations

import pytest
from tests.keys import NOW, URL

from undersigned import KeyPair, MemoryReplayStore, Request, RevocationList, SignatureError, Signer, Verifier, profiles
from undersigned.discovery import KeySources, RevocationSources

FIELDS = [("Content-Type", "application/json")]
MALLORY, VICTIM = KeyPair.generate(keyid="k1"), KeyPair.generate(keyid="k1")
FRESH = RevocationList(revoked=frozenset(), updated=NOW - 60, next_update=NOW + 60)


class Lists:
    """A source of revocation lists that counts who asks, and has no list if it is down."""

    blocking = False

    def __init__(self, answer=None) -> None:
        self.asked = 0
        self._answer = answer

    def current(self, _owner):
        self.asked += 1
        if self._answer is None:
            raise OSError("the list is down")
        return self._answer


def signed(pair) -> Request:
    request = Request("POST", URL, FIELDS, b"{}")
    signer = Signer(pair.signing_key(), profile=profiles.ADCP_3_2, clock=lambda: NOW)
    return Request("POST", URL, [*FIELDS, *signer.sign(request)], b"{}")


def verifier(**lists) -> Verifier:
    return Verifier(
        profiles.ADCP_3_2,
        keys=KeySources({"mallory": MALLORY.key_set(), "victim": VICTIM.key_set()}),
        replay=MemoryReplayStore(),
        revocations=RevocationSources(lists),
        clock=lambda: NOW,
    )


def test_list_of_another_owner_is_not_asked_for_if_the_key_verifies():
    mallory, victim = Lists(), Lists(FRESH)
    assert verifier(mallory=mallory, victim=victim).verify(signed(VICTIM)).signer == "victim"
    assert (mallory.asked, victim.asked) == (0, 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "signature_revocation_stale"),
        (RevocationList(revoked={"k1"}, updated=NOW - 60, next_update=NOW + 60), "signature_key_revoked"),
    ],
    ids=["down", "revoked"],
)
def test_own_list_counts(answer, reason):
    with pytest.raises(SignatureError) as caught:
        verifier(mallory=Lists(FRESH), victim=Lists(answer)).verify(signed(VICTIM))
    assert caught.value.reason == reason


def test_signature_by_no_key_of_the_name_is_invalid():
    with pytest.raises(SignatureError) as caught:
        verifier(mallory=Lists(FRESH), victim=Lists(FRESH)).verify(signed(KeyPair.generate(keyid="k1")))
    assert caught.value.reason == "signature_invalid"

"""ActivityPub: requests between servers, as Mastodon and Fedify send and verify them (autumn 2026)."""

from __future__ import annotations

from typing import Final

from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source

ACTIVITYPUB: Final = Profile(
    name="activitypub",
    source=Source(
        "Mastodon",
        "2026-11-22",
        part="app/lib/signed_request.rb",
        url="https://github.com/mastodon/mastodon/blob/HEAD/app/lib/signed_request.rb",
    ),
    selection=rules.Selection(pick="only"),
    # Receivers cannot know the hash of an RSA key otherwise, and several demand it.
    parameters=rules.ParameterRule(
        expires="optional", nonce="ignored", alg="ignored", tag="ignored", written=frozenset({"alg"})
    ),
    coverage=rules.CoverageRule(always=("@method", "@target-uri")),
    digest=rules.DigestRule(policy="required", algorithms=("sha-256",)),
    algorithms=frozenset({"rsa-v1_5-sha256"}),
    validity=rules.Validity(longest=None, ahead=3600, behind=3600, default=300, longest_age=43_200, signed_for=300),
    replay=rules.ReplayRule(remembers="nothing"),
    answers=rules.Answers(challenge="none"),
    target="typed",
)
"""Activities between servers: the actor's RSA key, a digest of the content, and clocks that may differ by an hour."""

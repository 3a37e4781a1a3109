"""Web Bot Auth: requests of bots, and the directories of their keys (draft-meunier-webbotauth-httpsig-protocol-02).

The same profile has three live wire forms of `Signature-Agent`. A String and a Dictionary differ on sight, and
`WEB_BOT_AUTH` takes both. A Dictionary does not show which of two forms it has, so the configuration picks it.
"""

from __future__ import annotations

from typing import Final, get_args

from undersigned.errors import UNAVAILABLE, Reason
from undersigned.signature import rules
from undersigned.signature.profile import Profile, Source

_UNREADABLE: Final[tuple[Reason, ...]] = (
    "signature_header_malformed",
    "signature_params_incomplete",
    "signature_params_unexpected",
    "signature_identity_malformed",
    "target_uri_malformed",
    "body_malformed",
)
_TYPED: Final = Source(
    "draft-meunier-webbotauth-httpsig-protocol",
    "02",
    url="https://datatracker.ietf.org/doc/draft-meunier-webbotauth-httpsig-protocol/",
)
_DRAFT: Final = Source(
    "draft-ietf-webbotauth-httpsig-protocol",
    "01",
    url="https://datatracker.ietf.org/doc/draft-ietf-webbotauth-httpsig-protocol/",
)

WEB_BOT_AUTH_STRING: Final = Profile(
    name="web-bot-auth-string",
    source=_TYPED._replace(part="E.2.2"),
    selection=rules.Selection(tags=("web-bot-auth",), pick="any"),
    parameters=rules.ParameterRule(nonce="optional", alg="optional", written=frozenset({"nonce", "alg"})),
    coverage=rules.CoverageRule(always=(), any_of=(("@authority", "@target-uri"),), if_sent=("signature-agent",)),
    digest=rules.DigestRule(policy="either"),
    algorithms=frozenset({"ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512", "rsa-v1_5-sha256"}),
    validity=rules.Validity(longest=86_400, ahead=60, behind=60, signed_for=60),
    key=rules.KeyRule(is_thumbprint=True),
    answers=rules.Answers(
        # Section 5.3: 400 if it cannot be read, 429 if there are too many, else 403.
        statuses={
            **dict.fromkeys([reason for reason in get_args(Reason) if reason not in UNAVAILABLE], 403),
            **dict.fromkeys(_UNREADABLE, 400),
            "signature_rate_abuse": 429,
        },
        challenge="accept-signature",
        unknown=frozenset(
            {
                "signature_required",
                "signature_identity_missing",
                "signature_key_unknown",
                "signature_jwks_unavailable",
                "signature_jwks_untrusted",
            }
        ),
    ),
    target="typed",
)
"""`Signature-Agent` is a String, the origin of a key directory. A sender of the field covers the whole field."""

WEB_BOT_AUTH: Final = WEB_BOT_AUTH_STRING.derive(
    name="web-bot-auth",
    source=_DRAFT._replace(part="section 5.2.1"),
    coverage=WEB_BOT_AUTH_STRING.coverage._replace(member_of="signature-agent"),
)
"""`Signature-Agent` is a String, the origin of a key directory, or a Dictionary of URLs of JWK sets."""

WEB_BOT_AUTH_TYPED: Final = WEB_BOT_AUTH_STRING.derive(
    name="web-bot-auth-typed",
    source=_TYPED,
    coverage=rules.CoverageRule(
        always=(), any_of=(("@authority", "@target-uri"),), sent=("signature-agent",), member_of="signature-agent"
    ),
)
"""`Signature-Agent` is a Dictionary: the `type` of a member says what its URL names, by default a key directory."""

WEB_BOT_AUTH_JWKS: Final = WEB_BOT_AUTH_TYPED.derive(name="web-bot-auth-jwks", source=_DRAFT)
"""`Signature-Agent` is a Dictionary: every member is the URL of a JWK set."""

WEB_BOT_AUTH_DIRECTORY: Final = WEB_BOT_AUTH_STRING.derive(
    name="web-bot-auth-directory",
    source=_TYPED._replace(part="B.1"),
    message="response",
    selection=rules.Selection(tags=("http-message-signatures-directory",), label="binding0", pick="any"),
    coverage=rules.CoverageRule(always=('"@authority";req', "content-digest")),
    digest=rules.DigestRule(policy="required"),
    validity=rules.Validity(longest=None, ahead=0, behind=0, signed_for=86_400),
    replay=rules.ReplayRule(remembers="nothing"),
)
"""A key directory, which each of its keys signs. It may be served again and again until the signature ends."""

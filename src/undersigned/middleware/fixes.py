"""Fixes: what to do about a rejected request, for the operator who reads the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.errors import Reason

_PROFILE: Final = "check that the sender signs by the profile of this service"
_AGENT: Final = "the agent must correct its"
_FIELDS: Final = "the sender must correct its fields, unless a proxy changes them; see `undersigned explain --request`"

FIXES: Final[Mapping[Reason, str]] = {
    "signature_required": 'the sender must sign; mode="optional" or policy= lets requests pass that need no signature',
    "signature_header_malformed": _FIELDS,
    "signature_params_incomplete": _PROFILE,
    "signature_params_unexpected": _PROFILE,
    "signature_tag_invalid": _PROFILE,
    "signature_alg_not_allowed": f"{_PROFILE}, with a key of one of its algorithms",
    "signature_window_invalid": "synchronize both clocks by NTP; the sender must sign just before it sends",
    "signature_components_incomplete": f"{_PROFILE}; for a body, most profiles also require content-digest",
    "signature_components_unexpected": _PROFILE,
    "signature_identity_missing": "the sender must name itself in a header field that the signature covers",
    "signature_identity_malformed": "the sender must correct the header field in which it names itself",
    "signature_key_unknown": "if you know the sender, add its public key to keys=, with the keyid as its kid",
    "signature_key_purpose_invalid": "the sender must publish its key for this use, as `undersigned keygen` does",
    "signature_key_revoked": "the sender must sign with another key",
    "signature_jwks_unavailable": "make the key source reachable; the logger undersigned.discovery has what it fetched",
    "signature_jwks_untrusted": "if you know the sender, allow the place of its keys, such as with trusted=",
    "signature_jwks_malformed": "the sender must publish a JWK set that can be read",
    "signature_capabilities_unreachable": f"make the agent reachable from here, or {_AGENT} capabilities",
    "signature_brand_json_url_missing": f"{_AGENT} capabilities, which must name its brand.json",
    "signature_brand_json_unreachable": "make the agent's brand.json reachable from here",
    "signature_brand_json_malformed": f"{_AGENT} brand.json",
    "signature_brand_origin_mismatch": f"{_AGENT} brand.json, which must be of its domain or authorize it",
    "signature_brand_json_ambiguous": f"{_AGENT} brand.json, which must list its URL once",
    "signature_agent_not_in_brand_json": f"{_AGENT} brand.json, which must list exactly this URL",
    "signature_key_origin_mismatch": f"{_AGENT} key_origins, which must name the host of its keys",
    "signature_key_origin_missing": f"{_AGENT} key_origins, which must name this purpose",
    "signature_revocation_stale": "make the revocation list reachable, so that a fresh one is fetched",
    "signature_rate_abuse": "the sender must wait until its nonces expire; the profile's caps say how many may be live",
    "target_uri_malformed": (
        "if the Host is yours, add it to origins=; a proxy must forward Host and the request target unchanged "
        "(docs/proxies.md); `undersigned explain URL` shows what a URL must be like"
    ),
    "signature_invalid": (
        "this logger has the base at level INFO; `undersigned explain --request` finds what changed on the way, and "
        "`undersigned doctor` tests the proxies"
    ),
    "signature_digest_mismatch": "find what changes the body on the way: it must arrive byte by byte as it was signed",
    "signature_replayed": "the sender must sign every attempt again; a proxy must not repeat requests",
    "body_malformed": "the sender must correct the content as this line says; JSON must name each member once",
    "signature_store_unavailable": "make the replay store reachable: no request is accepted without it",
    "signature_server_unsupported": "change the server or its settings as this line says; see docs/deploying.md",
}
"""The fix for each reason. It is one line without text of a message."""

UNREAD_FIXES: Final[Mapping[str, str]] = {
    "content_too_large": "raise max_body= to allow larger bodies, or have the sender send less",
    "request_timeout": "raise body_timeout= to allow slower senders, or have the sender send faster",
    "request_header_fields_too_large": "the sender must send fewer header fields",
}
"""The fix for each code of a request that was not read to its end."""

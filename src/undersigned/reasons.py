"""What each reason means, what the sender does and what the operator does: for logs, the command line and the docs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.errors import Reason, SignatureError


class Advice(NamedTuple):
    """What is known about a reason. Each text is one line without text of a message.

    Attributes:
        meaning: what happened.
        sender: what the sender of the request does.
        operator: what the operator of the verifier does.
    """

    meaning: str
    sender: str
    operator: str


_PROFILE: Final = "check that the sender uses this service's profile"
_OTHER_PROFILE: Final = "use the server's profile (--profile on the command line)"
_AGENT: Final = "the agent must correct its"
_OWN: Final = "correct what your agent publishes"
_SERVER: Final = "ask the operator: the log of the logger `undersigned` names the cause"
_CUT_OFF: Final = (
    "look for a limit or a timeout in the proxy and in the client, for malformed chunks, and for a layer outside the "
    "middleware that reads the body"
)
_WAY: Final = "run `undersigned doctor` to see what changes requests in transit"

REASONS: Final[Mapping[Reason, Advice]] = {
    "signature_required": Advice(
        "no Signature and Signature-Input headers arrived, and the server requires them",
        "sign the request; if it is signed, a proxy drops the headers: it forwards only known ones, or removes these",
        "sign the request; if this route should be open, see mode= and policy= of the middleware",
    ),
    "signature_header_malformed": Advice(
        "the signature headers cannot be read, or only one of them arrived",
        "run `undersigned doctor` to see what rewrites, repeats or shortens headers in transit",
        "the sender must correct its headers, unless a proxy changes them; set this logger to DEBUG, and give its "
        "line to `undersigned explain`",
    ),
    "signature_params_incomplete": Advice("the server expects other signature parameters", _OTHER_PROFILE, _PROFILE),
    "signature_params_unexpected": Advice("the server expects other signature parameters", _OTHER_PROFILE, _PROFILE),
    "signature_tag_invalid": Advice("the server expects another tag", _OTHER_PROFILE, _PROFILE),
    "signature_alg_not_allowed": Advice(
        "the server does not accept the key's algorithm",
        "sign with a key of another algorithm",
        f"{_PROFILE}, with a key of one of its algorithms",
    ),
    "signature_window_invalid": Advice(
        "the signature is not valid now, or for too long, or the two clocks differ by more than the profile allows",
        "sign just before you send, for no longer than the profile allows; synchronize both clocks with NTP",
        "the sender must sign just before it sends, for no longer than the profile allows; synchronize both clocks "
        "with NTP",
    ),
    "signature_components_incomplete": Advice(
        "the server expects more covered components, or a request without a body arrives with one",
        _OTHER_PROFILE,
        f"{_PROFILE}; for a body, most profiles require content-type and content-digest",
    ),
    "signature_components_unexpected": Advice("the server expects fewer covered components", _OTHER_PROFILE, _PROFILE),
    "signature_identity_missing": Advice(
        "the header in which the sender names itself is missing, or not signed",
        "name yourself in the profile's header, such as Signature-Agent",
        "the sender must name itself in a header that the signature covers",
    ),
    "signature_identity_malformed": Advice(
        "the header in which the sender names itself cannot be read",
        "correct the header in which you name yourself",
        "the sender must correct the header in which it names itself",
    ),
    "signature_key_unknown": Advice(
        "the server does not know this key",
        "give the server the public key, with the kid of the private key",
        "if you know the sender, its public key must be where keys= looks for it, with the key ID as its kid; a key "
        "that was just published is found within a minute",
    ),
    "signature_key_purpose_invalid": Advice(
        "the server knows this key for another purpose or algorithm, or as a published test key",
        "publish a key of your own with use, key_ops, alg and adcp_use as `undersigned keygen` writes them",
        "the sender must publish its key for this use, as `undersigned keygen` does; a profile of your own may accept "
        "plain JWKs, with derive(key=KeyRule())",
    ),
    "signature_key_revoked": Advice(
        "the server's revocation list contains this key",
        "sign with another key",
        "the sender must sign with another key",
    ),
    "signature_jwks_unavailable": Advice(
        "the server's key source is not available",
        "make your keys reachable, if you publish them; else send again later",
        "mend the key source; the logger undersigned.discovery says what was fetched, and this logger has the "
        "traceback of a source of your own",
    ),
    "signature_jwks_untrusted": Advice(
        "the server does not trust the place where the key is published",
        _SERVER,
        "if you know the sender, allow the place of its keys with the option that this line names",
    ),
    "signature_jwks_malformed": Advice(
        "the published JWK set cannot be read",
        "publish the JWK set as `undersigned keygen` writes it",
        "the sender must publish a JWK set that can be read",
    ),
    "signature_capabilities_unreachable": Advice(
        "the agent's capabilities cannot be fetched",
        "make your agent reachable for the server",
        f"make the agent reachable from here, or {_AGENT} capabilities",
    ),
    "signature_brand_json_url_missing": Advice(
        "the agent's capabilities do not name its brand.json",
        _OWN,
        f"{_AGENT} capabilities, which must name its brand.json",
    ),
    "signature_brand_json_unreachable": Advice(
        "the agent's brand.json cannot be fetched",
        "make your brand.json reachable for the server",
        "make the agent's brand.json reachable from here",
    ),
    "signature_brand_json_malformed": Advice("the agent's brand.json cannot be read", _OWN, f"{_AGENT} brand.json"),
    "signature_brand_origin_mismatch": Advice(
        "the brand.json is neither of the agent's domain nor authorizes it",
        _OWN,
        f"{_AGENT} brand.json, which must be of its domain or authorize it",
    ),
    "signature_brand_json_ambiguous": Advice(
        "the brand.json lists the agent more than once", _OWN, f"{_AGENT} brand.json, which must list its URL once"
    ),
    "signature_agent_not_in_brand_json": Advice(
        "the brand.json does not list the agent", _OWN, f"{_AGENT} brand.json, which must list exactly this URL"
    ),
    "signature_key_origin_mismatch": Advice(
        "the agent's key_origins names another host than that of its keys",
        _OWN,
        f"{_AGENT} key_origins, which must name the host of its keys",
    ),
    "signature_key_origin_missing": Advice(
        "the agent's key_origins has no host for this purpose",
        _OWN,
        f"{_AGENT} key_origins, which must name this purpose",
    ),
    "signature_revocation_stale": Advice(
        "the server's revocation list is too old",
        _SERVER,
        "make a fresh revocation list reachable, or write it; this logger has the traceback of a source of your own",
    ),
    "signature_rate_abuse": Advice(
        "the key has too many live nonces",
        "wait until nonces expire, or sign with another key",
        "the sender must wait until its nonces expire; the profile's caps say how many may be live",
    ),
    "target_uri_malformed": Advice(
        "the Host or the path of the URL is not one of the server's",
        "check the URL, and origins= of the server; a proxy must forward Host unchanged: undersigned doctor",
        "if the Host is yours, add it to origins=; a proxy must forward Host and the request target unchanged, "
        "which `undersigned doctor` tests; `undersigned canonicalize --explain URL` shows what a URL must be like",
    ),
    "signature_invalid": Advice(
        "the request that arrived is not the one that was signed, or the server has another key with this kid",
        _WAY,
        "set this logger to DEBUG, and give its line to `undersigned explain`, which finds what changed in transit; "
        "`undersigned doctor` tests the proxies",
    ),
    "signature_digest_mismatch": Advice(
        "the body that arrived is not the one that was signed",
        _WAY,
        "find what changes the body in transit: it must arrive byte for byte as it was signed",
    ),
    "signature_replayed": Advice(
        "the server has seen this nonce before",
        "sign each request again; disable the retries of proxies (nginx: `proxy_next_upstream off;`)",
        "the sender must sign every attempt again; a proxy must not repeat requests",
    ),
    "body_malformed": Advice(
        "programs could read the body differently: it has duplicate keys, or is not the JSON that the server expects",
        "send valid JSON, and write each key of an object once",
        "the sender must correct the body as this line says; JSON must name each member once",
    ),
    "signature_store_unavailable": Advice(
        "the server's replay store is not available",
        _SERVER,
        "make the replay store reachable: no request is accepted without it",
    ),
    "signature_server_unsupported": Advice(
        "the application's server does not show the signed values",
        f"{_SERVER}. Over HTTP/2, the middleware needs the name of the server: http2_server=",
        "change the server or its settings as this line says",
    ),
}
"""The advice for each reason."""

UNREAD: Final[Mapping[str, tuple[int, str]]] = {
    "content_incomplete": (400, _CUT_OFF),
    "request_timeout": (408, "raise body_timeout= to allow slower senders, or have the sender send faster"),
    "content_too_large": (413, "raise each option that this line names, or send less"),
    "uri_too_long": (414, "the sender must send a shorter target; a signature does not help"),
    "request_header_fields_too_large": (431, "the sender must send fewer or smaller headers"),
}
"""The codes of requests that are not read to their end, each with its status and what to do about it."""


def fix_of(error: SignatureError) -> str:
    """Return what the operator does about an error: its own advice, that for its reason, or ""."""
    if error.fix is not None:
        return error.fix
    return "" if error.reason is None else REASONS[error.reason].operator

"""Advice: the settings that fix each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = (
    "forward the request target unchanged. nginx: `proxy_pass http://app;` without a path, and no rewrite. HAProxy: no "
    "normalize-uri. Apache: `AllowEncodedSlashes NoDecode`, `MergeSlashes Off` and `ProxyPass ... nocanon`. "
    "docs/proxies.md has complete configurations, and shows how to strip a prefix"
)
QUERY = "forward the query unchanged: do not sort, decode or drop any of it. See docs/proxies.md"
LONE_QUESTION_MARK = (
    "nginx: `proxy_pass http://app;` without a path, and no rewrite. If that is not possible, clients must not send a "
    "? without a query"
)
CONTENT = "forward the content unchanged: do not drop, decompress, re-encode or rewrite it"
CHUNKS = (
    "the application's server does not show chunked content to applications: put a buffering proxy in front of it "
    "(nginx, unless proxy_request_buffering is off), or use gunicorn, waitress or an ASGI server"
)
HOST = (
    "forward Host unchanged. nginx: `proxy_set_header Host $http_host;` (its default is the name in proxy_pass, and "
    "$host drops the port). HAProxy: no `set-header Host`. Apache: `ProxyPreserveHost On`"
)
UNKNOWN_CHANGE = (
    "see the log of the logger `undersigned` (level INFO): it contains the rebuilt signature base, whose @method, "
    "@target-uri and @authority are the values that arrived"
)
LOG = "see the log of the logger `undersigned`: it names the cause"
RECEIVED = "the logger `undersigned` names the cause, and after `received:` the Host and the target that arrived"
CONTENT_FIELDS = "forward Content-Type and Content-Digest unchanged"
REDIRECTED = "use the URL that it redirects to: a signature is valid for one URL only"
FAILING = "see the log of the server, and for 502 or 504 the log of the proxy: the application does not answer"
NOT_VERIFIED = (
    "check that the path of the URL leads to the application, that SignatureMiddleware is its outermost middleware, "
    "and that nothing on the way answers instead"
)
_PROFILE = "give the profile that the server uses: --profile"

CODES: Mapping[str, tuple[str, str]] = {
    "signature_required": (
        "the Signature and Signature-Input fields do not arrive",
        "find out what drops them: a proxy that forwards only known fields, or one configured to remove them",
    ),
    "signature_header_malformed": (
        "the signature fields arrive changed, or only one of them arrives",
        "find out what rewrites, repeats or shortens header fields on the way",
    ),
    "signature_params_incomplete": ("the server expects other signature parameters", _PROFILE),
    "signature_tag_invalid": ("the server expects another tag", _PROFILE),
    "signature_alg_not_allowed": ("the server does not accept the key's algorithm", "use a key of another algorithm"),
    "signature_window_invalid": (
        "this clock and the server's differ by more than the profile allows",
        "synchronize both clocks by NTP",
    ),
    "signature_components_incomplete": (
        "the server expects more covered components, or a request without content arrives with content",
        _PROFILE,
    ),
    "signature_components_unexpected": ("the server expects fewer covered components", _PROFILE),
    "signature_key_unknown": (
        "the server does not know this key",
        "publish the public key in the server's key source, with the kid of the private key",
    ),
    "signature_key_purpose_invalid": (
        "the server knows this key for another purpose or algorithm",
        "publish the key with use, key_ops, alg and adcp_use as `undersigned keygen` writes them",
    ),
    "signature_key_revoked": ("the server's revocation list contains this key", "use another key"),
    "signature_rate_abuse": ("the key has too many live nonces", "wait until nonces expire, or use another key"),
    "signature_replayed": (
        "the request arrives more than once: something on the way repeats it",
        "disable retries. nginx: `proxy_next_upstream off;`. HAProxy: no `retry-on` and no redispatch",
    ),
    "signature_server_unsupported": (
        "the application's server does not show the signed values",
        f"{LOG}. Over HTTP/2, the middleware needs the name of the server: http2_server=",
    ),
    "signature_jwks_unavailable": ("the server's key source is not available", LOG),
    "signature_jwks_untrusted": ("the server does not trust the place where the key is published", LOG),
    "signature_store_unavailable": ("the server's replay store is not available", LOG),
    "signature_revocation_stale": ("the server's revocation list is too old", LOG),
}
"""The problem and the advice for each code that rejects a plain signed request."""

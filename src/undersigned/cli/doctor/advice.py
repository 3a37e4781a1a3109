"""Advice: what an operator sets, by what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = (
    "pass the request target on as it came. nginx: `proxy_pass http://app;` with nothing behind the name, and no "
    "rewrite. HAProxy: no normalize-uri. Apache: `AllowEncodedSlashes NoDecode`, `MergeSlashes Off` and `ProxyPass ... "
    "nocanon`. docs/proxies.md has the whole, and how to strip a prefix"
)
QUERY = "pass the query on as it came: nothing on the way may sort, decode or drop any of it. See docs/proxies.md"
LONE_QUESTION_MARK = (
    "nginx: `proxy_pass http://app;` with nothing behind the name, and no rewrite. Where that cannot be: have clients "
    "leave out a ? with nothing behind it"
)
CONTENT = "pass the content on as it came: nothing on the way may drop, decompress, re-encode or rewrite it"
CHUNKS = (
    "the application's server shows chunked content to nobody: put a proxy before it that buffers it (nginx does, "
    "unless proxy_request_buffering is off), or run the application under gunicorn, waitress or an ASGI server"
)
HOST = (
    "pass Host on as it came. nginx: `proxy_set_header Host $http_host;` (its default is the name in proxy_pass, and "
    "$host drops the port). HAProxy: no `set-header Host`. Apache: `ProxyPreserveHost On`"
)
UNKNOWN_CHANGE = (
    "look at the log of the logger `undersigned` (level INFO): it has the signature base as it was rebuilt, whose "
    "@method, @target-uri and @authority are what arrived"
)
LOG = "look at the log of the logger `undersigned` (level INFO): it names the cause"
RECEIVED = (
    "the logger `undersigned` (level INFO) names the cause, and behind `received:` the Host and the target that arrived"
)
CONTENT_FIELDS = "pass Content-Type and Content-Digest on as they came"
REDIRECTED = "give the URL that it redirects to: a signature holds for one URL"
FAILING = "look at the server's log, and at the proxy's where it is a 502 or a 504: the application does not answer"
UNJUDGED = (
    "see that the URL's path leads to the application, that the middleware stands outermost in it, and that nothing on "
    "the way answers by itself"
)
_PROFILE = "give the profile that the server verifies by: --profile"

CODES: Mapping[str, tuple[str, str]] = {
    "signature_required": (
        "the Signature and Signature-Input fields do not arrive",
        "find what drops them: a proxy that passes on only fields it knows, or one told to clear them",
    ),
    "signature_header_malformed": (
        "the signature fields arrive changed, or only one of them does",
        "find what rewrites, repeats or shortens header fields on the way",
    ),
    "signature_params_incomplete": ("the server wants other signature parameters", _PROFILE),
    "signature_tag_invalid": ("the server wants another tag", _PROFILE),
    "signature_alg_not_allowed": ("the server does not accept the key's algorithm", "use a key of another algorithm"),
    "signature_window_invalid": (
        "this clock and the server's differ by more than the profile allows",
        "set both clocks, by NTP",
    ),
    "signature_components_incomplete": (
        "the server wants more components to be covered, or a request without content arrives with some",
        _PROFILE,
    ),
    "signature_components_unexpected": ("the server wants fewer components to be covered", _PROFILE),
    "signature_key_unknown": (
        "the server does not know this key",
        "publish the public key, under the kid of the private one, where the server looks for keys",
    ),
    "signature_key_purpose_invalid": (
        "the server has this key for another purpose or algorithm",
        "publish it with use, key_ops, alg and adcp_use as `undersigned keygen` writes them",
    ),
    "signature_key_revoked": ("the server's revocation list names this key", "sign by another key"),
    "signature_rate_abuse": ("the key's cap of live nonces is reached", "wait until nonces expire, or use another key"),
    "signature_replayed": (
        "the request arrives more than once: something on the way repeats it",
        "switch repeating off. nginx: `proxy_next_upstream off;`. HAProxy: no `retry-on` and no redispatch",
    ),
    "signature_server_unsupported": ("the application's server cannot show what was signed", LOG),
    "signature_jwks_unavailable": ("the server cannot ask for keys at the moment", LOG),
    "signature_jwks_untrusted": ("the server does not trust where the key is published", LOG),
    "signature_store_unavailable": ("the server cannot ask its replay store at the moment", LOG),
    "signature_revocation_stale": ("the server's revocation list is too old", LOG),
}
"""What a refusal of a plain signed request means, and what to do, by its code."""

"""Advice: who makes each change of a request, and what to do about it. `explain` and `doctor` share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Maker = Literal["client", "proxy", "server", "framework", "language"]
"""Who makes a change. A client is also a signer written by hand; a language writes JSON in its own way."""

PATH: Final = (
    "forward the request target unchanged. nginx: `proxy_pass http://app;` without a path, and no rewrite. HAProxy: no "
    "normalize-uri. Apache: `AllowEncodedSlashes NoDecode`, `MergeSlashes Off` and `ProxyPass ... nocanon`"
)
QUERY: Final = "forward the query unchanged: do not sort, decode or drop any of it"
CONTENT: Final = "forward the body unchanged: do not drop, decompress, re-encode or rewrite it"
HOST: Final = (
    "forward Host unchanged. nginx: `proxy_set_header Host $http_host;` (its default is the name in proxy_pass, and "
    "$host drops the port). HAProxy: no `set-header Host`. Apache: `ProxyPreserveHost On`"
)


CHANGES: Final[Mapping[str, str]] = {
    "another key": (
        "client: the keyid names a key that did not sign: send the keyid of the key that did, or publish it under this"
    ),
    "another profile": "client: verify with the sender's profile, or ask the sender to sign with yours",
    "DER signature": "language: the ECDSA signature is in DER: the sender must send r and s (RFC 9421 section 3.3.4)",
    "another hash": (
        "language: the sender must sign with its algorithm's hash and padding (RFC 9421 section 3.3): PHP takes SHA-1"
    ),
    "other signature form": "client: the sender must write the signature once, in Base64 between colons: sig1=:AAAA:",
    "other base form": (
        "client: the sender must write the base as RFC 9421 section 2.5 has it: each name in quotation marks, a "
        "colon, a space and the value; lines separated by LF alone; and @signature-params last, without an LF"
    ),
    "hashed base": "client: the sender must sign the base itself: the algorithm hashes it (RFC 9421 section 3.3)",
    "other component value": (
        "client: the sender must write the value as RFC 9421 section 2.2 has it: @target-uri is the absolute URL in "
        "canonical form, without a fragment; @authority is in lower case and without the default port"
    ),
    "reordered parameters": "client, proxy: the order of the parameters of Signature-Input is signed: keep it",
    "added parameters": "client: each parameter of Signature-Input is signed: add none afterwards, and leave none out",
    "reordered lines": "client: the lines of the base have the order in which Signature-Input lists the components",
    "not canonical": "client: the sender did not sign the canonical form of its URL: canonicalize it before signing",
    "other scheme": "proxy, client: a proxy ends TLS, or the sender is wrong: write the clients' scheme in origins=",
    "other port": f"proxy: a proxy forwards Host with another port or without it: {HOST}",
    "other host": f"proxy: a proxy rewrote Host: {HOST}",
    "other method": "client, framework: a redirect or a method override changed it: sign the method that is sent",
    "trailing slash": "framework, client: a redirect, a router or the sender changed the end: sign the path as sent",
    "merged slashes": f"proxy, server: servers and proxies merge repeated slashes: {PATH}",
    "added slashes": "client: a base URL with a slash at its end was joined with a path: sign the URL that is sent",
    "stripped prefix": "proxy, framework: a proxy strips a prefix: add it after the host in origins=, or forward it",
    "added prefix": "proxy, server: a proxy or server adds a prefix: remove it from origins=, or do not add it",
    "rewritten target": f"proxy: a proxy rewrote the target, and names the original in a header: {PATH}",
    "decoded octets": f"proxy, server, client: clients, proxies and servers decode percent-encoding: {PATH}",
    "encoded octets": "client, proxy: the URL was encoded after it was signed: sign it as it is sent, encoded once",
    "other case": "proxy, client: something changed upper and lower case in transit: forward the request unchanged",
    "lost ?": "server: a ? without a query was lost in transit, as ASGI servers cannot report it: do not send a lone ?",
    "added ?": "client: the sender signed a URL without its lone ?: sign the ? too, or do not send it",
    "reordered query": f"client, proxy: something sorted the parameters, and their order is signed: {QUERY}",
    "rewritten query": "framework, client: one side parsed the query and wrote it again: sign the URL as it is sent",
    "+ for a space": "language, proxy: one side wrote a space as + and the other as %20: sign the URL that is sent",
    "added query": "client, proxy: parameters were added after signing: sign the URL with all its parameters",
    "other Base64": "client: one side wrote Base64url, or left out the padding: use the Base64 of the profile",
    "other content": f"framework, language, proxy: the digest is of another body: sign what is sent, and {CONTENT}",
    "other digest form": "client: the sender must write a digest of the body as RFC 9530 has it: sha-256=:AAAA:",
    "other header joining": "proxy, framework: a proxy or library joined its lines or changed its spaces: keep them",
    "other Content-Type": "client, proxy: a parameter such as charset changed after signing: sign what is sent",
    "added value": "proxy: a proxy added a value to a covered field: all values of a field are signed together",
    "lost field": "proxy, client: a covered field was removed in transit, or not sent: forward it, or do not cover it",
}
"""Each kind of change by its name: who makes it, the most likely first; a colon; its usual cause, and what to do."""

NAMES: Final = tuple(CHANGES)
"""The names of all changes."""

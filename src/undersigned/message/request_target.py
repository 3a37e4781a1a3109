"""The request target as it was on the wire (RFC 9112 section 3.2), rebuilt from what a server shows.

The raw target is what was signed. The application routes by the decoded path, so both must be the same target. If they
differ, something before the middleware has rewritten one of them, and the request is rejected.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_TARGET
from undersigned.url import CanonicalURL
from undersigned.url.parts import URL
from undersigned.url.path import remove_dot_segments

if TYPE_CHECKING:
    from undersigned.url.origin import Origin


_RULE = "request target"
NOT_REBUILT = "rebuilt target"
"""The rule for a target of which the server shows too little."""
# RFC 3986 does not allow `| ^ [ ]`, nor in a query `{ }` and a grave accent. Clients and browsers send them raw, and
# every server that the tests run shows them as they were sent. Some servers reject `"`, `<` and `>`, or a grave accent
# in a path. A percent sign begins an escape.
_TARGET = re.compile(
    r"(/(?>(?:[A-Za-z0-9._~!$&'()*+,;=:@/|^\[\]-]++|%[0-9A-Fa-f]{2})*))"
    r"(?>(?:\?((?>(?:[A-Za-z0-9._~!$&'()*+,;=:@/|^\[\]?`{}-]++|%[0-9A-Fa-f]{2})*)))?)"
)
# A signer is stricter: HTTP libraries send those as they are or encode them, each in its own way.
_SENT = re.compile(r"/(?>(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]++|%[0-9A-Fa-f]{2})*)")
_PLAIN = re.compile(r"[A-Za-z0-9._~/-]*")
_ENCODED_SLASH = re.compile(r"%(2[Ff])")
_SLASHES = re.compile(r"/+")


class RequestTarget(NamedTuple):
    """A request target in origin-form.

    Attributes:
        path: the raw path.
        query: the raw query. None and the empty query differ.
    """

    path: str
    query: str | None

    @classmethod
    def parse(cls, raw: bytes) -> RequestTarget:
        """Read `raw`.

        Raises:
            MalformedURL: it is not in origin-form, or has a character that RFC 3986 forbids in a path or query. That
                rejects absolute-form, authority-form, `*`, a fragment, a backslash, controls, non-ASCII, bad escapes.
                Only `[ ] ^ |`, and in a query also `{ }` and a grave accent, may be there unencoded.
        """
        target = raw.decode("latin-1")
        check_length(target)
        match = _TARGET.fullmatch(target)
        if match is None:
            raise MalformedURL("the request target is not a path and query", rule=_RULE)
        return cls(match[1], match[2])

    @classmethod
    def reconstruct(cls, script_name: str, path_info: str, query: str) -> RequestTarget:
        """Rebuild a target from decoded parts, if decoding cannot have changed it.

        Raises:
            MalformedURL: a decoded part has a character that is neither unreserved nor a slash.
        """
        path = script_name + path_info
        if _PLAIN.fullmatch(path) is None:
            raise MalformedURL(
                "the server shows only the decoded path, which has characters that may have been percent-encoded",
                rule=NOT_REBUILT,
            )
        # A character beyond Latin-1 is not an octet. It becomes a backslash escape, which a target must not contain.
        return cls.parse((f"{path}?{query}" if query else path).encode("latin-1", "backslashreplace"))

    def url(self, origin: Origin) -> str:
        """Return the absolute URL at `origin`, with the stripped prefix in front of the path again."""
        query = "" if self.query is None else f"?{self.query}"
        return f"{origin.scheme}://{origin.authority}{origin.prefix}{self.path}{query}"

    def is_path(self, *candidates: bytes) -> bool:
        """Return whether one of the decoded `candidates` is this path.

        A candidate may differ only by decoding, merged slashes and resolved dots, because servers do these.
        """
        own_path = self.path.encode("ascii")
        if own_path in candidates:
            return True
        decoded = unquote_to_bytes(self.path)
        # ASGI servers decode as UTF-8 with replacement characters, so compare that too.
        lossy = decoded.decode("utf-8", "replace").encode()
        if decoded in candidates or lossy in candidates:
            return True
        # Apache and cheroot keep an encoded slash, and decode the rest.
        kept = unquote_to_bytes(_ENCODED_SLASH.sub(r"%25\1", self.path))
        levelled = {_level(decoded), _level(kept)}
        return any(_level(candidate) in levelled for candidate in candidates)


def application_path(target: CanonicalURL, origin: Origin) -> str:
    """Return the canonical path as the application sees it, without the prefix that a proxy strips.

    Raises:
        MalformedURL: the canonical path is outside the prefix, as `/api/../x` is.
    """
    if not origin.prefix:
        return target.path
    if not target.path.startswith(f"{origin.prefix}/"):
        raise MalformedURL("the canonical path is outside the origin's prefix", rule=_RULE)
    return target.path[len(origin.prefix) :]


def check_length(target: str) -> None:
    """Check that a target is short enough to be canonicalized.

    Raises:
        MalformedURL: it is longer than `LONGEST_TARGET`.
    """
    if len(target) > LONGEST_TARGET:
        raise MalformedURL(
            f"the target has {len(target):,} characters, and at most {LONGEST_TARGET:,} are read: send a shorter URL",
            rule="length",
        )


def check_sent(target: CanonicalURL) -> None:
    """Check that a target that is about to be signed is sent as it is, and that a receiver reads it.

    Raises:
        MalformedURL: it is longer than `LONGEST_TARGET`, or has a bad escape or a character that RFC 3986 forbids.
    """
    check_length(target.target_uri)
    rest = _SENT.sub("", target.target_uri.removeprefix(f"{target.scheme}://{target.authority}"), count=1)
    if rest[:1] == "%":
        raise MalformedURL(
            f"the target contains {rest[:3]!r}: expected two hexadecimal digits after '%'; write a percent sign as %25",
            rule=_RULE,
        )
    if rest:
        raise MalformedURL(
            f"the target contains {rest[0]!r}, which RFC 3986 does not allow there; percent-encode it", rule=_RULE
        )


def typed_target(url: str, target: CanonicalURL) -> CanonicalURL:
    """Return a target with its path and query exactly as in `url` (RFC 9421 sections 2.2.2, 2.2.6 and 2.2.7).

    Args:
        url: the target URI as it was received, or as it will be sent.
        target: its canonical form, which gives scheme and authority. It exists only if path and query have no character
            that must be percent-encoded.
    """
    if url == target.target_uri:
        return target
    parts = URL.parse(url)
    query = "" if parts.query is None else f"?{parts.query}"
    return CanonicalURL(f"{target.scheme}://{target.authority}{parts.path or '/'}{query}", target.authority)


def _level(path: bytes) -> str:
    """Return `path` with slashes merged and dot segments removed, as some servers show it."""
    return remove_dot_segments(_SLASHES.sub("/", path.decode("latin-1")))

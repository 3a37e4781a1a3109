"""The request target as it was on the wire (RFC 9112 section 3.2), rebuilt from what a server shows.

The raw target is what was signed. The application routes by the decoded path, so both must be the same target. If they
differ, something before the middleware has rewritten one of them, and the request is rejected.
"""

from __future__ import annotations

import re
from binascii import a2b_qp
from string import ascii_letters, digits
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_PATH, LONGEST_TARGET, MOST_ESCAPES, MOST_SEGMENTS
from undersigned.url import CanonicalURL, canonicalize
from undersigned.url.origin import received_authority
from undersigned.url.value import URL

if TYPE_CHECKING:
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.url.origin import Origin


_RULE = "request target"
_CHARACTERS = ascii_letters + digits + "._~!$&'()*+,;=:@/-%"
# RFC 3986 allows none of the added characters. Clients and browsers send them raw, and every server that the tests run
# shows them as they were sent. Some servers reject `"`, `<` and `>`, or a grave accent in a path.
_PATH_OCTETS = f"{_CHARACTERS}|^[]".encode("ascii")
_QUERY_OCTETS = _PATH_OCTETS + b"?`{}"
_PLAIN = re.compile(r"[A-Za-z0-9._~/-]*")
_VISIBLE = re.compile(r"[!-~]*")
_ENCODED_SLASH = re.compile(r"%(2[Ff])")
_SLASHES = re.compile(rb"/+")
# Quoted-printable has the escapes of URLs, with another sign. To count them, an equals sign may be a full stop.
_QUOTED = bytes.maketrans(b"%=", b"=.")
_SHORT = min(LONGEST_TARGET, LONGEST_PATH, MOST_ESCAPES, MOST_SEGMENTS)
"""The length up to which a target can have nothing too often."""


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
        path, mark, query = target.partition("?")
        others = raw[: len(path)].translate(None, _PATH_OCTETS) or raw.translate(None, _QUERY_OCTETS)
        if others or path[:1] != "/" or ("%" in target and not _is_encoded(target, a2b_qp(raw.translate(_QUOTED)))):
            raise MalformedURL("the request target is not a path and query", rule=_RULE)
        return cls(path, query if mark else None)

    @classmethod
    def reconstruct(cls, script_name: str, path_info: str, query: str) -> RequestTarget:
        """Rebuild a target from decoded parts, if decoding cannot have changed it.

        Raises:
            MalformedURL: a decoded part has a character that is neither unreserved nor a slash.
        """
        path = script_name + path_info
        if _PLAIN.fullmatch(path) is None:
            raise MalformedURL("a target with other characters than unreserved ones cannot be rebuilt", rule=_RULE)
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
        decoded = percent_decode(self.path)
        # ASGI servers decode as UTF-8 with replacement characters, so compare that too.
        lossy = decoded.decode("utf-8", "replace").encode()
        if decoded in candidates or lossy in candidates:
            return True
        # Apache and cheroot keep an encoded slash, and decode the rest.
        kept = percent_decode(_ENCODED_SLASH.sub(r"%25\1", self.path))
        levelled = {_level(decoded), _level(kept)}
        return any(_level(candidate) in levelled for candidate in candidates)


class ReceivedURL:
    """The canonical form and the decoded path of a received URL, each made once."""

    _path: str | None = None
    _parts: tuple[Origin, RequestTarget] | None = None
    _url: CanonicalURL | None = None

    @classmethod
    def at(cls, origin: Origin, target: RequestTarget) -> ReceivedURL:
        """Return the received URL `target.url(origin)`. It is not split into its parts again."""
        received = cls()
        received._parts = origin, target
        return received

    def canonical(self, url: str) -> CanonicalURL:
        """Return the canonical form of `url`.

        Raises:
            MalformedURL: it has none, or a host with non-ASCII characters (AdCP step 2).
        """
        if self._url is None:
            if self._parts is None:
                self._url = canonicalize(url, received=True)
            else:
                origin, target = self._parts
                self._url = origin.canonical(target.path, target.query)
        return self._url

    def decoded_path(self, url: str) -> str:
        """Return the percent-decoded canonical path of `url`.

        Raises:
            MalformedURL: as `canonical`.
            UnicodeDecodeError: the decoded path is not UTF-8.
        """
        if self._path is None:
            self._path = percent_decode(self.canonical(url).path).decode()
        return self._path


def percent_decode(text: str) -> bytes:
    """Return the octets of percent-encoded text, as `urllib.parse.unquote_to_bytes` does."""
    if _VISIBLE.fullmatch(text) is None:
        return unquote_to_bytes(text)
    octets = _unescape(text)
    return octets if _is_encoded(text, octets) else unquote_to_bytes(text)


def _unescape(text: str) -> bytes:
    """Return the octets of visible ASCII characters, decoded where a percent sign begins an escape."""
    # Quoted-printable has the same escapes, and is decoded in C. That takes a twentieth of the time.
    return a2b_qp(text.replace("=", "=3D").replace("%", "="))


def _is_encoded(text: str, octets: bytes) -> bool:
    """Return whether every percent sign of `text`, which was decoded to `octets`, begins an escape."""
    # Decoding makes an escape two characters shorter, and any other percent sign at most one: in quoted-printable, a
    # lone `=` stays, one at the end is dropped, and `==` becomes `=`.
    return len(text) - len(octets) == 2 * text.count("%")


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
    """Check that a target is short enough: canonicalizing it must cost less than verifying a few signatures.

    Raises:
        MalformedURL: it is longer than `LONGEST_TARGET`. Or its path is longer than `LONGEST_PATH`, or has more than
            `MOST_ESCAPES` percent signs or more than `MOST_SEGMENTS` slashes.
    """
    if len(target) <= _SHORT:
        return
    if len(target) > LONGEST_TARGET:
        raise MalformedURL(f"the target has more than {LONGEST_TARGET} characters", rule="length")
    path = target.partition("?")[0]
    if len(path) > LONGEST_PATH:
        raise MalformedURL(f"the target has more than {LONGEST_PATH} characters before its query", rule="length")
    if path.count("%") > MOST_ESCAPES:
        raise MalformedURL(f"the target's path has more than {MOST_ESCAPES} percent signs", rule="length")
    if path.count("/") > MOST_SEGMENTS:
        raise MalformedURL(f"the target has more than {MOST_SEGMENTS} slashes before its query", rule="length")


def received_target(request: Request) -> CanonicalURL:
    """Return the canonical target of a received request, after comparing its authority with the fields.

    If the request has `:authority` or Host, each must agree with the URL (AdCP, signing profile extensions).

    Raises:
        MalformedURL: the URL or an authority has no canonical form, two authorities differ, or Host is repeated.
    """
    check_length(request.url)
    target = request.received.canonical(request.url)
    fields, authority = request.fields.combined, target.authority
    # Nearly every request has only Host, as the target has it.
    if ":authority" in fields or fields.get("host", authority) != authority:
        _check_authorities(request.fields, target)
    return target


def _check_authorities(fields: HeaderFields, target: CanonicalURL) -> None:
    """Check that `:authority` and Host agree with the target."""
    for name in (":authority", "host"):
        value = fields.combined.get(name)
        if value is None or value == target.authority:
            continue
        if name in fields.repeated:
            raise MalformedURL(f"the request has {len(fields.repeated[name])} {name} values", rule="one authority")
        if target.authority != received_authority(value, target.scheme, hosts=(target.host,)):
            raise MalformedURL(f"{name} names another authority than the target URI", rule="same authority")


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


def _level(path: bytes) -> bytes:
    """Return `path` with slashes merged and dot segments removed, as some servers show it."""
    segments: list[bytes] = []
    parts = _SLASHES.sub(b"/", path).split(b"/")
    for segment in parts:
        if segment == b"..":
            if len(segments) > 1:
                segments.pop()
        elif segment != b".":
            segments.append(segment)
    if parts[-1] in {b".", b".."}:
        segments.append(b"")
    return b"/".join(segments)

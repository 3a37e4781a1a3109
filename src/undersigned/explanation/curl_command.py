"""curl commands: as a person types them, and as browsers copy a request ("Copy as cURL", for bash)."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

from undersigned.explanation.raw_request import MalformedRequest
from undersigned.explanation.shown_request import ShownRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STARTS: Final = re.compile(r"\s*(?:\$ )?curl\s", re.ASCII)
"""How the text of a curl command starts."""

_PIECE: Final = re.compile(
    r"""(?P<blank>\s+)|\\(?P<newline>\r?\n)|'(?P<single>[^']*)'|\$'(?P<ansi>(?>(?:[^'\\]|\\.)*))'"""
    r"""|"(?P<double>(?>(?:[^"\\]|\\.)*))"|\\(?P<escaped>.)|(?P<plain>[^\s'"\\$]+|\$)""",
    re.DOTALL | re.ASCII,
)
_ANSI: Final = re.compile(r"(?P<u>(?:\\u[0-9A-Fa-f]{4})+)|\\x(?P<x>[0-9A-Fa-f]{1,2})|\\(?P<c>.)", re.DOTALL)
_ANSI_NAMED: Final = {"n": "\n", "r": "\r", "t": "\t"}
_IN_DOUBLE: Final = re.compile(r'\\(?:\r?\n|([$`"\\]))')
_FIELD: Final = re.compile(r"([^:;]+)(?::[ \t]*(.*)|;)", re.DOTALL)

_NAMED: Final[Mapping[str, str]] = {
    "-X": "--request", "-H": "--header", "-d": "--data", "--data-ascii": "--data", "-A": "--user-agent",
    "-e": "--referer", "-b": "--cookie", "-u": "--user", "-G": "--get", "-I": "--head",
}  # fmt: skip
_DATA: Final = ("--data", "--data-raw", "--data-binary", "--json")
_FIELDS: Final[Mapping[str, str]] = {"--user-agent": "User-Agent", "--referer": "Referer", "--cookie": "Cookie"}
_FLAGS: Final = frozenset(
    {
        *(f"-{letter}" for letter in "ksSvLifgNO046Z#"),
        *("--get", "--head", "--compressed", "--path-as-is", "--globoff", "--tr-encoding", "--ipv4", "--ipv6"),
        *("--insecure", "--silent", "--show-error", "--verbose", "--location", "--include", "--fail", "--no-buffer"),
        *("--fail-with-body", "--no-progress-meter", "--progress-bar"),
        *("--http1.0", "--http1.1", "--http2", "--http2-prior-knowledge", "--http3"),
    }
)
_UNREAD: Final = frozenset(
    {"--data-urlencode", "--form", "-F", "--form-string", "--upload-file", "-T", "--config", "-K", "--next"}
)


def read_curl_command(text: str) -> ShownRequest:
    """Return the request that a curl command sends, without the fields that curl adds by itself, such as Accept.

    Args:
        text: the command, bytes decoded as Latin-1.

    Raises:
        MalformedRequest: the text is not such a command, or it has an option that is not read. The message does
            not quote the text.
    """
    words = list(_words(text))
    words = words[words.index("curl") + 1 :]
    options: dict[str, list[str]] = {}
    urls: list[str] = []
    at = iter(words)
    for word in at:
        name, value = _option(word)
        if name == "":
            urls.append(word)
        elif name in _UNREAD:
            raise MalformedRequest(f"the curl command has {name}, which is not read: paste what curl -v shows")
        elif name in _FLAGS:
            options.setdefault(name, [])
        else:
            given = next(at, None) if value is None else value
            if given is None:
                raise MalformedRequest("the last option of the curl command has no value")
            options.setdefault(name, []).append(given)
    urls += options.get("--url", [])
    if len(urls) != 1:
        raise MalformedRequest(f"the curl command has {len(urls)} URLs: expected one")
    return _request(urls[0] if "://" in urls[0] else f"http://{urls[0]}", options)


def _request(url: str, options: Mapping[str, list[str]]) -> ShownRequest:
    fields = [_field(line) for line in options.get("--header", [])]
    fields += [(_FIELDS[name], values[-1]) for name, values in options.items() if name in _FIELDS]
    if "--user" in options:
        encoded = base64.b64encode(options["--user"][-1].encode("latin-1")).decode("ascii")
        fields.append(("Authorization", f"Basic {encoded}"))
    given = [(name, value) for name in _DATA for value in options.get(name, [])]
    body: bytes | None = "&".join(value for _, value in given).encode("latin-1")
    if any(value.startswith("@") and name != "--data-raw" for name, value in given):
        body = None
    method = "HEAD" if "--head" in options else "POST" if given else "GET"
    if "--get" in options and body:
        url, body, method = f"{url}{'&' if '?' in url else '?'}{body.decode('latin-1')}", b"", "GET"
    if given and "--get" not in options:
        named = {name.lower() for name, _ in fields}
        is_json = "--json" in options
        form = "application/json" if is_json else "application/x-www-form-urlencoded"
        added = {"Content-Type": form, **({"Accept": form} if is_json else {})}
        if body is not None:
            added["Content-Length"] = str(len(body))
        fields += [(name, value) for name, value in added.items() if name.lower() not in named]
    return ShownRequest(options.get("--request", [method])[-1], url, tuple(fields), body)


def _option(word: str) -> tuple[str, str | None]:
    """Return the long name of an option and the value that is joined to it; an empty name for a URL."""
    if word.startswith("--") and len(word) > len("--"):
        return word, None
    if not word.startswith("-") or word == "-":
        return "", None
    short, rest = word[:2], word[2:]
    name = _NAMED.get(short, short)
    if name in _FLAGS and rest:
        # Several flags in one word, such as -sSX: only the last may take a value.
        return _option(f"-{rest}")
    return name, rest or None


def _field(line: str) -> tuple[str, str]:
    match = _FIELD.fullmatch(line)
    if match is None:
        raise MalformedRequest("a header of the curl command is not a name, a colon and a value")
    return match[1], match[2] or ""


def _words(text: str) -> Iterator[str]:
    """Yield the words of a command as a POSIX shell splits it."""
    if '^"' in text:
        raise MalformedRequest("the command is for cmd.exe: copy it as cURL for bash")
    word: list[str] = []
    at = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            raise MalformedRequest("a quote of the curl command is not closed")
        at = piece.end()
        if piece["blank"] is not None:
            if word:
                yield "".join(word)
            word = []
        elif piece["newline"] is None:
            word.append(_unquote(piece))
    if word:
        yield "".join(word)


def _unquote(piece: re.Match[str]) -> str:
    if piece["ansi"] is not None:
        return _ANSI.sub(_ansi, piece["ansi"])
    if piece["double"] is not None:
        return _IN_DOUBLE.sub(lambda escaped: escaped[1] or "", piece["double"])
    return piece[piece.lastgroup or 0]


def _ansi(escape: re.Match[str]) -> str:
    if escape["u"]:
        units = "".join(chr(int(unit, 16)) for unit in escape["u"].split("\\u")[1:])
        # Browsers write a character beyond 16 bits as two units of UTF-16.
        text = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text.encode("utf-8").decode("latin-1")
    return chr(int(escape["x"], 16)) if escape["x"] else _ANSI_NAMED.get(escape["c"], escape["c"])

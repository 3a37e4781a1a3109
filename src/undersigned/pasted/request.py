"""Pasted requests: HTTP/1.1 as on the wire, the output of `curl -v`, a curl command, or JSON lines."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.errors import UndersignedError
from undersigned.message.content_digest import has_digests, read_digests
from undersigned.message.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undersigned.url import Origin

    Fields = list[tuple[str, str]]

_CURL_OUTPUT: Final = re.compile(r"^> ([A-Za-z-]+ \S+ HTTP/[0-9.]+)\r?$", re.MULTILINE)
_CURL: Final = re.compile(r"\s*(?:\$ )?curl\s", re.ASCII)
_BLANK_LINE: Final = re.compile(r"\r?\n\r?\n")
_REQUEST_LINE: Final = re.compile(r"([^ ]+) ([^ ]+) HTTP/[0-9.]+")
_FIELD: Final = re.compile(r"(:?[^:\s]+):(.*)", re.DOTALL)
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")
_LOOPBACK: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::(?!443$)|$)", re.IGNORECASE)
_CHUNK: Final = re.compile(r"([0-9A-Fa-f]{1,15})[^\r\n]*\r?\n")
_CHUNK_END: Final = re.compile(r"\r?\n")
_LINE_END: Final = re.compile(r"[\r\n\0]")
_LOGGED: Final = re.compile(rb'\{"request": \{"method": [^\r\n]*')
"""A request as a middleware logs it at DEBUG, whatever the form of the log puts before it."""
_IN_TEXT: Final = re.compile(rb'^[ \t]*\{.*\\"request\\": \{\\"method\\": .*$', re.MULTILINE)
"""A line of a log in JSON that has such a request in a text."""
_CREATED: Final = re.compile(r";\s*created=([0-9]{1,15})(?![0-9.])")
_KEYID: Final = re.compile(r';\s*keyid="([^"]*)"')
_TEXT: Final = re.compile(r"\S")
_DIGITS: Final = 18

_ESCAPE: Final = r"\\(?:[abfnrtv\\'\"]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7]))"
_SHELL: Final = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<plain>[^ \t\r\n'\"\\$`|&;<>()^]+)|\\\r?\n|\\(?P<escaped>.)|'(?P<single>[^']*)'"
    rf"|\$'(?P<ansi>(?>(?:[^'\\]|{_ESCAPE})*))'"
    r"|\"(?P<double>(?>(?:[^\"\\$`]|\\.|\$(?=[ \".,;:/)\]}]))*))\"|(?P<other>.)",
    re.DOTALL,
)
"""A part of a command. The standard library's `shlex` takes quadratic time for a long word, and `getopt` for many."""

_CURL_VALUES: Final = {
    "X": "method", "--request": "method", "H": "field", "--header": "field", "d": "data", "--data": "data",
    "--data-raw": "raw", "--data-binary": "data", "--json": "json", "--url": "url", "b": "cookie", "--cookie": "cookie",
}  # fmt: skip
_CURL_FLAGS: Final = (
    "--head", "--get", "--path-as-is", "--verbose", "--silent", "--show-error", "--include", "--insecure", "--location",
    "--fail", "--globoff", "--compressed", "--http1.1", "--http2",
)  # fmt: skip
"""Options without a value. All but the first three do not change the request."""
_CURL_OPTION: Final = re.compile(r"(--[^=]+)=?(.*)|-(?=.)([IGvsSikLfg]*)(?:([XHdb])(.*))?", re.DOTALL)
_NO_VALUE: Final = re.compile(r"[^:]*:[ \t]*")
_DOT_SEGMENT: Final = re.compile(r"/(?:\.|%2e){1,2}(?:[/?#]|$)", re.IGNORECASE)


class MalformedRequest(UndersignedError, ValueError):
    """Raised when a text is not a recorded request. The message does not quote the text."""


@dataclass(frozen=True, slots=True)
class PastedRequest:
    """A request that was pasted.

    Attributes:
        request: the request.
        form: the form in which it was pasted, such as `a curl command`.
        fault: why its content is not known, or "". If it is not known, the content of `request` is empty.
        received_at: the clock of the verifier that received it, seconds since the epoch, if the log of a middleware
            has it; else None.
        clock_offsets: by how many seconds each logged request of its key is created after it was received.
    """

    request: Request
    form: str
    fault: str = ""
    received_at: float | None = None
    clock_offsets: tuple[float, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether its content is known."""
        return not self.fault


class _Read(NamedTuple):
    """A request as it was read. Its texts are bytes decoded as Latin-1; its content is None if it is not shown."""

    method: str
    target: str
    fields: Fields
    body: bytes | None
    fault: str = ""
    received_at: float | None = None
    clock_offsets: tuple[float, ...] = ()

    @property
    def is_signed(self) -> bool:
        """Whether there is a signature."""
        return _value(self.fields, "signature") is not None

    def parameter(self, pattern: re.Pattern[str]) -> str:
        """Return what the first signature has for a parameter, or ""."""
        found = pattern.search(_value(self.fields, "signature-input") or "")
        return "" if found is None else found[1]


def parse_pasted_request(text: bytes, *, origins: Sequence[Origin] = (), body: bytes | None = None) -> PastedRequest:
    """Parse a request as a tool shows it.

    The text may be a request of HTTP/1.1 as on the wire, the output of `curl -v`, a curl command, or JSON: lines of
    `undersigned sign`, or objects that have one as `request`, such as of an access log. Of several requests, it is the
    signed one; of several signed ones in the log of a middleware, the last. Lines of HTTP end with CRLF or LF. Text
    that an editor added after the content is ignored.

    Args:
        text: the text.
        origins: the origins of the service. If the text does not name a scheme, it is that of the first one. Without
            origins, it is http for a loopback host, as of a server in development, and https for any other.
        body: the content, if the text does not have it.

    Raises:
        MalformedRequest: the text has none of these forms. The message does not quote the text.
    """
    words = text.decode("latin-1")
    if _CURL_OUTPUT.search(words):
        form, read = "the output of curl -v", _read_curl_output(words)
    elif _CURL.match(words):
        form, read = "a curl command", _read_curl_command(words)
    elif (logged := b"\n".join(_LOGGED.findall(text) or _IN_TEXT.findall(text))) or words.lstrip()[:1] in {"{", "["}:
        form, read = "a request in JSON", _read_json(logged or text)
    else:
        form, read = "an HTTP request", _read_http(words)
    content = read.body if body is None else body
    if any(map(_LINE_END.search, [read.method, read.target, *chain.from_iterable(read.fields)])):
        raise MalformedRequest("the method, the URL or a header has a line end in it")
    url = _url(read.target.partition("#")[0], read.fields, origins[0].scheme if origins else None)
    fields = read.fields
    absolute = _ABSOLUTE.match(read.target)
    if absolute is not None and _value(fields, "host") is None:
        fields = [("Host", absolute[1].rpartition("@")[2]), *fields]
    request = Request(read.method, url, fields, content or b"")
    declared = read_digests(request.fields.combined.get("content-digest", ""))
    lost = not content and declared and not has_digests(b"", declared)
    fault = ""
    if body is None and (content is None or lost):
        fault = read.fault or f"{form} does not show the body: give its bytes with --body"
        fault += ", or log it: log_whole=True of the middleware" if read.received_at is not None else ""
        request = Request(read.method, url, fields, b"", has_body=True)
    return PastedRequest(request, form, fault, read.received_at, read.clock_offsets)


def _read_http(words: str) -> _Read:
    text = words.lstrip("\r\n")
    blank = _BLANK_LINE.search(text)
    head, rest = (text[: blank.start()], text[blank.end() :]) if blank else (text.rstrip("\r\n"), "")
    read = _head(re.split(r"\r?\n", head))
    try:
        return read._replace(body=_content(rest, read.fields))
    except MalformedRequest as malformed:
        try:
            # A page changes the line ends of what is pasted into it.
            return read._replace(body=_content(re.sub(r"\r?\n", "\r\n", rest), read.fields))
        except MalformedRequest:
            return read._replace(fault=str(malformed))


def _read_curl_output(words: str) -> _Read:
    starts = [match.start() for match in _CURL_OUTPUT.finditer(words)]
    reads: list[_Read] = []
    for start, end in pairwise([*starts, None]):
        shown = re.split(r"\r?\n", words[start:end])
        lines = takewhile(lambda line: line.rstrip(" ") != ">" and line[:1] != "<", shown)
        reads.append(_head([line[2:] for line in lines if line.startswith("> ")]))
    read = next((read for read in reads if read.is_signed), reads[0])
    has_content = (_value(read.fields, "content-length") or "0") != "0" or _value(read.fields, "transfer-encoding")
    return read if has_content else read._replace(body=b"")


def _head(lines: Sequence[str]) -> _Read:
    request_line = _REQUEST_LINE.fullmatch(lines[0])
    if request_line is None:
        raise MalformedRequest("line 1 is not a request line (method, target, version), and no log of level DEBUG")
    return _Read(request_line[1], request_line[2], [_field(line) for line in filter(None, lines[1:])], None)


def _field(line: str) -> tuple[str, str]:
    match = _FIELD.fullmatch(line)
    if match is None:
        raise MalformedRequest("a line is not a header: expected a name, a colon and a value")
    return match[1], match[2].strip(" \t")


def _content(rest: str, fields: Fields) -> bytes:
    if (_value(fields, "transfer-encoding") or "").lower() == "chunked":
        return _join_chunks(rest).encode("latin-1")
    length = _value(fields, "content-length")
    if length is None:
        return rest.encode("latin-1") if rest.strip("\r\n") else b""
    if not (length.isascii() and length.isdigit() and len(length) <= _DIGITS):
        raise MalformedRequest("Content-Length is not a number of bytes")
    if len(rest) < int(length):
        raise MalformedRequest(f"the body has {len(rest)} bytes, but Content-Length is {length}")
    return rest[: int(length)].encode("latin-1")


def _join_chunks(rest: str) -> str:
    content: list[str] = []
    at = 0
    while chunk := _CHUNK.match(rest, at):
        size = int(chunk[1], 16)
        if size == 0:
            return "".join(content)
        content.append(rest[chunk.end() : chunk.end() + size])
        line_end = _CHUNK_END.match(rest, chunk.end() + size)
        if line_end is None:
            break
        at = line_end.end()
    raise MalformedRequest("the chunks of the body are incomplete or have wrong sizes")


def _read_curl_command(words: str) -> _Read:
    """Return the request that a curl command sends, without the fields that curl adds by itself, such as Accept."""
    given = list(_curl_options(words))
    options = dict(given)
    urls = [value for kind, value in given if kind == "url"]
    if len(urls) != 1:
        raise MalformedRequest(f"the curl command has {len(urls)} URLs: expected one")
    url = (urls[0] if "://" in urls[0] else f"http://{urls[0]}").partition("#")[0]
    if _DOT_SEGMENT.search(url.partition("?")[0]) and "--path-as-is" not in options:
        raise MalformedRequest("curl changes the path of this URL before it sends it: paste what curl -v shows")
    # `Name;` is how curl is given a field without a value, and `Name:` how it is told to send no such field.
    lines = [value for kind, value in given if kind == "field"]
    named = [_field(f"{line[:-1]}:" if line.endswith(";") and ":" not in line else line) for line in lines]
    fields = [field for field, line in zip(named, lines, strict=True) if not _NO_VALUE.fullmatch(line)]
    cookies = ";".join(value for kind, value in given if kind == "cookie")
    if cookies and _value(named, "cookie") is None:
        fields.append(_field(f"Cookie: {cookies}"))
    data = [(kind, value) for kind, value in given if kind in {"data", "raw", "json"}]
    content = "".join(f"{'&' if at and kind != 'json' else ''}{value}" for at, (kind, value) in enumerate(data))
    body = None if any(kind != "raw" and value.startswith("@") for kind, value in data) else content.encode("latin-1")
    if "--get" in options:
        if body is None:
            raise MalformedRequest("the curl command does not show the query: paste what curl -v shows")
        url, data, body = f"{url}{'&' if '?' in url else '?'}{content}" if content else url, [], b""
    form = "application/json" if "json" in options else "application/x-www-form-urlencoded" if data else None
    if form is not None and _value(named, "content-type") is None:
        fields.append(("Content-Type", form))
    method = options.get("method", "HEAD" if "--head" in options else "POST" if data else "GET")
    return _Read(method, url, fields, body)


def _curl_options(words: str) -> Iterator[tuple[str, str]]:
    """Yield what each option of a curl command sets, or the option itself if it has no value, and the value."""
    given = iter(_shell_words(words.lstrip("$ \t\r\n"))[1:])
    for word in given:
        if not word.startswith("-"):
            yield "url", word
            continue
        option = _CURL_OPTION.fullmatch(word)
        long, joined, flags, letter, attached = ("?",) * 5 if option is None else option.groups("")
        yield from ((flag, "") for letter_of, flag in (("I", "--head"), ("G", "--get")) if letter_of in flags)
        name, value = long or letter, joined or attached or None
        kind = _CURL_VALUES.get(name)
        if kind and (value := value or next(given, None)) is not None and (kind != "cookie" or "=" in value):
            yield kind, value
        elif name and name not in _CURL_FLAGS:
            raise MalformedRequest(
                "the curl command has an option that is not read, or that has no value: leave it out if it does not "
                "change the request, or paste what curl -v shows"
            )
        else:
            yield name, ""


def _shell_words(text: str) -> list[str]:
    """Return the words of a command, as a shell splits them."""
    words: list[list[str]] = []
    is_open = False
    for part in _SHELL.finditer(text):
        form, piece = part.lastgroup, part[part.lastgroup or 0]
        if form == "ansi":
            piece = re.sub(_ESCAPE, _unescaped, piece)
        elif form == "double":
            piece = re.sub(r'\\(?:\r?\n|([\\"$`]))', r"\1", piece)
        if form == "other" or "\0" in piece:
            raise MalformedRequest(
                "the curl command has a quote that is not closed, or a variable or another character on which a shell "
                "acts (one of Windows' cmd has ^: copy it as for bash). Paste what curl -v shows"
            )
        if form == "space":
            is_open = False
        elif form is not None:
            if not is_open:
                words.append([])
            words[-1].append(piece)
            is_open = True
    return ["".join(pieces) for pieces in words]


def _unescaped(escape: re.Match[str]) -> str:
    character = escape[0].encode("ascii").decode("unicode_escape")
    return _latin_1(character) if escape[0][1] == "u" else character


def _read_json(text: bytes) -> _Read:
    reads = list(_requests(_values(text.decode("utf-8", "replace").strip())))
    signed = [read for read in reads if read.is_signed]
    if len(signed) > 1 and not all(read.received_at for read in signed):
        raise MalformedRequest(
            f"the text has {len(signed)} signed requests: give one of them. `undersigned verify` checks every line"
        )
    if not reads:
        raise MalformedRequest("the JSON has no request: expected method, url and headers")
    if not signed:
        return reads[0]
    # The log of a middleware tells how far off the clock of a sender is.
    last = signed[-1]
    times = [
        (int(created), read.received_at)
        for read in signed
        if read.parameter(_KEYID) == last.parameter(_KEYID) and (created := read.parameter(_CREATED))
    ]
    return last._replace(clock_offsets=tuple(created - at for created, at in times if at is not None))


def _values(words: str) -> list[object]:
    """Return the values of a JSON text, one after another."""
    values: list[object] = []
    decoder = json.JSONDecoder()
    at = 0
    try:
        while at < len(words):
            value, end = decoder.raw_decode(words, at)
            values.append(cast("object", value))
            rest = _TEXT.search(words, end)
            at = len(words) if rest is None else rest.start()
    except (ValueError, RecursionError):
        raise MalformedRequest("the text begins like JSON, but is not JSON") from None
    return values


def _requests(values: object) -> Iterator[_Read]:
    """Yield the requests among values, each an object with the members of a request, or with `request`."""
    for value in cast("list[object]", values) if isinstance(values, list) else [values]:
        if not isinstance(value, dict):
            continue
        members = cast("dict[str, object]", value)
        if isinstance(members.get("method"), str):
            method, url, fields, body = read_json_request(members)
            named = [(_latin_1(name), _latin_1(text)) for name, text in fields]
            yield _Read(_latin_1(method), _latin_1(url), named, body)
        elif "request" in members:
            at = members.get("received_at")
            received_at = at if isinstance(at, (int, float)) else None
            yield from (read._replace(received_at=received_at) for read in _requests(members["request"]))
        else:
            lines = "\n".join([text for text in members.values() if isinstance(text, str)]).encode("utf-8", "replace")
            for logged in _LOGGED.findall(lines):
                yield from _requests(_values(logged.decode()))


def read_json_request(value: object) -> tuple[str, str, Fields, bytes]:
    """Return the method, the URL, the headers and the content of `{"method", "url", "headers", "body" or "body_b64"}`.

    `headers` is an object or a list of [name, value] pairs, and a value may be a list, for several lines. `body` is
    text, encoded as UTF-8. `body_b64` is the body in padded Base64 (RFC 4648 section 4). All but method and url may be
    absent or null, and only one of the bodies may be given. As Caddy logs it, the target is `uri`, beside `host`.

    Raises:
        MalformedRequest: the value does not have this form. The message does not quote it.
    """
    if not isinstance(value, dict):
        raise MalformedRequest("this is not a JSON object with method, url, headers and body")
    members = cast("dict[str, object]", value)
    method, url, host = members.get("method"), members.get("url", members.get("uri")), members.get("host")
    if not isinstance(method, str) or not isinstance(url, str):
        raise MalformedRequest("method and url must be strings")
    fields = [*([("Host", host)] if isinstance(host, str) else []), *_headers(members.get("headers") or [])]
    return method, url, fields, _body(members.get("body"), members.get("body_b64"))


def _headers(headers: object) -> Iterator[tuple[str, str]]:
    if not isinstance(headers, (dict, list)):
        raise MalformedRequest("headers must be an object or a list of [name, value] pairs")
    for member in cast("Iterable[object]", headers.items() if isinstance(headers, dict) else headers):
        texts: Sequence[object] = [None]
        match member:
            case [str(), str()]:
                texts = member[1:]
            case [str(), list()]:
                texts = cast("Sequence[list[object]]", member)[1]
            case _:
                pass
        for text in texts:
            if not isinstance(text, str):
                raise MalformedRequest("the name and the value of a header must be strings")
            yield cast("Sequence[str]", member)[0], text


def _body(text: object, encoded: object) -> bytes:
    match text, encoded:
        case None, None:
            return b""
        case str(), None:
            try:
                return text.encode("utf-8")
            except UnicodeEncodeError:
                raise MalformedRequest("body has a lone surrogate, which UTF-8 cannot encode; use body_b64") from None
        case None, str():
            try:
                return base64.b64decode(encoded, validate=True)
            except ValueError:
                raise MalformedRequest("body_b64 is not padded Base64") from None
        case _:
            raise MalformedRequest("give either body or body_b64, as a string")


def _latin_1(text: str) -> str:
    """Return the bytes of UTF-8 decoded as Latin-1."""
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _url(target: str, fields: Fields, scheme: str | None) -> str:
    if _ABSOLUTE.match(target):
        return target
    authority = _value(fields, ":authority") or _value(fields, "host")
    if authority is None:
        raise MalformedRequest("the request has no Host field, so its target is unknown; add the Host field")
    if target != "*" and target[:1] != "/":
        raise MalformedRequest("the request target is not a path, an absolute URL or *")
    if scheme is None:
        scheme = "http" if _LOOPBACK.match(authority) else "https"
    return f"{scheme}://{authority}{'' if target == '*' else target}"


def _value(fields: Fields, name: str) -> str | None:
    return next((value.strip() for field, value in fields if field.lower() == name), None)

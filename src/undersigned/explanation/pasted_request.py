"""Pasted requests: a request as curl, a browser or a proxy shows it, whichever it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from undersigned.explanation.curl_command import STARTS, read_curl_command
from undersigned.explanation.json_request import FETCH, read_fetch, read_json_request
from undersigned.explanation.log_request import read_log, read_pseudo_fields
from undersigned.explanation.raw_request import MalformedRequest, parse_raw_request
from undersigned.message.content_digest import ContentDigest
from undersigned.message.request import Request
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from undersigned.explanation.shown_request import ShownRequest

_CURL_OUTPUT: Final = re.compile(r"^> [A-Za-z-]+ \S+ HTTP/", re.MULTILINE)
_HTTP: Final = re.compile(r"[\r\n]*[!-~]+ [!-~]+ HTTP/[0-9.]+\r?\n")
_JSON: Final = re.compile(r"\s*(?:\{|\[\s*\{)", re.ASCII)
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class PastedRequest:
    """A request that was pasted.

    Attributes:
        request: the request.
        form: the form in which it was pasted, such as `a curl command`.
        fault: why its content is not known, or "". If it is not known, the content of `request` is empty.
    """

    request: Request
    form: str
    fault: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether its content is known."""
        return not self.fault


def parse_pasted_request(text: bytes, *, scheme: str = "https", body: bytes | None = None) -> PastedRequest:
    """Parse a request as curl, a browser or a proxy shows it.

    The text may be a request of HTTP/1.1 as on the wire, the output of `curl -v`, a curl command, or a fetch call. It
    may be the header fields of a browser's panel, a HAR file or entry, or a line of `undersigned sign`. And it may be
    from the debug log of nginx, HAProxy or Envoy, Apache's forensic log, or the access log of Caddy.

    Args:
        text: the text, in UTF-8.
        scheme: the scheme of the request, if the text does not name one.
        body: the content, if the text does not have it.

    Raises:
        MalformedRequest: the text has none of these forms. The message does not quote the text.
    """
    words = text.decode("latin-1")
    shown, form = _read_shown(words)
    if shown is not None:
        content = shown.body if body is None else body
        request = parse_raw_request(shown.head(), scheme=scheme, body=content or b"")
        if content is None and (shown.declares_content or _has_digest_of_content(request)):
            fault = f"{form} does not show the body: give its bytes with --body"
            return PastedRequest(_without_content(request), form, fault)
        return PastedRequest(request, form)
    form = "the output of curl -v" if _CURL_OUTPUT.search(words) else "an HTTP request"
    try:
        request = parse_raw_request(text, scheme=scheme, body=body)
    except MalformedRequest as malformed:
        if body is not None:
            raise
        fault = str(malformed)
        # The text may have only the head, or its content with other line ends: a page changes them.
        found = _with_crlf(text, scheme)
        if found is not None:
            return PastedRequest(found, form)
        return PastedRequest(_without_content(parse_raw_request(text, scheme=scheme, body=b"")), form, fault)
    if body is None and _has_digest_of_content(request):
        fault = f"{form} has a Content-Digest and no body: give its bytes with --body"
        return PastedRequest(_without_content(request), form, fault)
    return PastedRequest(request, form)


def _read_shown(words: str) -> tuple[ShownRequest | None, str]:
    """Return what a tool shows of a request, and the name of the form; None for HTTP and the output of `curl -v`."""
    if _HTTP.match(words):
        return None, ""
    if STARTS.match(words) and not _CURL_OUTPUT.search(words):
        return read_curl_command(words), "a curl command"
    if FETCH.match(words):
        return read_fetch(_decode(words)), "a fetch call"
    if _JSON.match(words):
        return read_json_request(_decode(words)), "a request in JSON"
    fields = read_pseudo_fields(words)
    if fields is not None:
        return fields, "the header fields of a browser"
    return read_log(words), "the log of a proxy"


def _has_digest_of_content(request: Request) -> bool:
    """Return whether a request without content has a Content-Digest, which is not the one of no content."""
    declared = request.fields.combined.get("content-digest")
    if declared is None or request.body:
        return False
    try:
        return not ContentDigest.parse(declared, "base64", "base64url").running_digest(b"").matches()
    except MalformedField:
        return False


def _without_content(request: Request) -> Request:
    return Request(request.method, request.url, request.fields, b"", has_body=True)


def _decode(words: str) -> str:
    return words.encode("latin-1").decode("utf-8", "replace")


def _with_crlf(text: bytes, scheme: str) -> Request | None:
    """Return the request whose content has CRLF as its line ends, if that is as long as Content-Length says."""
    blank = _BLANK_LINE.search(text)
    if blank is None:
        return None
    content = text[blank.end() :].replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    try:
        return parse_raw_request(text[: blank.end()] + content, scheme=scheme)
    except MalformedRequest:
        return None

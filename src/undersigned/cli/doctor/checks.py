"""What the doctor checks, what it finds, and what it advises.

A spelling is a valid request target or content that reveals one kind of change on the way. Some changes are part of
canonicalization, such as removed dot segments, a decoded `%7e`, and escapes in upper case. They change no signature, so
nothing here tests them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = (
    "forward the request target unchanged. nginx: `proxy_pass http://app;` without a path, and no rewrite. HAProxy: no "
    "normalize-uri. Apache: `AllowEncodedSlashes NoDecode`, `MergeSlashes Off` and `ProxyPass ... nocanon`"
)
QUERY = "forward the query unchanged: do not sort, decode or drop any of it."
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


@dataclass(frozen=True, slots=True)
class Finding:
    """A change on the way, or another reason why signatures are not accepted.

    Attributes:
        check: the name of the check.
        problem: a description of the problem.
        advice: the setting that fixes it.
        sent: the request target that was sent, or an empty text.
        arrives: the request target that arrives, or an empty text if it is not known.
    """

    check: str
    problem: str
    advice: str
    sent: str = ""
    arrives: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one examination.

    Attributes:
        url: the examined URL.
        requests: the number of requests that were sent.
        passed: the names of the checks without a problem.
        findings: the problems.
        notes: further information for the operator.
    """

    url: str
    requests: int
    passed: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """A valid request target.

    Attributes:
        name: a description of the target.
        target: the end of the target as sent.
        rewritings: the targets that may arrive instead, each with a description of the change.
        advice: the setting that fixes a change.
    """

    name: str
    target: str
    rewritings: Mapping[str, str]
    advice: str = PATH


@dataclass(frozen=True, slots=True)
class Content:
    """Valid content.

    Attributes:
        name: a description of the content.
        chunked: whether it is sent without Content-Length.
        sent: the content.
        rewritings: the contents that may arrive instead, each with a description of the change.
    """

    name: str
    chunked: bool
    sent: bytes = field(repr=False)
    rewritings: Mapping[bytes, str] = field(repr=False)


SPELLINGS = (
    Spelling("repeated slashes", "/a//b", {"/a/b": "the slashes are merged"}),
    Spelling(
        "an encoded slash",
        "/a%2Fb",
        {"/a/b": "%2F is decoded", "/a%252Fb": "% is encoded again"},
    ),
    Spelling("dot segments", "/a/./b/../c", {}),
    Spelling(
        "dots between encoded slashes",
        "/a%2F..%2Fb",
        {"/b": "%2F is decoded and the new dot segment is resolved", "/a%252F..%252Fb": "% is encoded again"},
    ),
    Spelling(
        "encoded reserved characters",
        "/a%2Bb%3Ac%40d",
        {
            "/a+b:c@d": "percent-encoding is changed: reserved characters are decoded",
            "/a%2Bb:c@d": "percent-encoding is changed: %3A and %40 are decoded",
            "/a%252Bb%253Ac%2540d": "percent-encoding is changed: % is encoded again",
        },
    ),
    Spelling(
        "unencoded reserved characters",
        "/a+b!(c)*'d;e=f,g",
        {
            "/a%2Bb%21%28c%29%2A%27d%3Be%3Df%2Cg": "percent-encoding is changed: reserved characters are encoded",
            "/a%2Bb!(c)*'d%3Be%3Df%2Cg": "percent-encoding is changed: some reserved characters are encoded",
            "/a%20b!(c)*'d;e=f,g": "+ is read as a space",
            "/a+b!(c)*'d": "the text after the semicolon is cut off",
        },
    ),
    Spelling(
        "encoded UTF-8",
        "/caf%C3%A9",
        {"/caf%E9": "UTF-8 is changed to Latin-1", "/caf%25C3%25A9": "% is encoded again"},
    ),
    Spelling(
        "an unsorted query",
        "/a?b=2&a=1&b=1",
        {
            "/a?a=1&b=2&b=1": "the query is sorted",
            "/a?a=1&b=1&b=2": "the query is sorted",
            "/a?b=2&a=1": "a repeated parameter is dropped",
            "/a?b=1&a=1": "a repeated parameter is dropped",
            "/a": "the query is lost",
        },
        QUERY,
    ),
    Spelling(
        "spaces in a query",
        "/a?x=a+b%20c",
        {"/a?x=a+b+c": "%20 becomes +", "/a?x=a%20b%20c": "+ becomes %20", "/a?x=a%2Bb%20c": "+ becomes %2B"},
        QUERY,
    ),
    Spelling(
        "escapes in a query",
        "/a?x=%7e%2f",
        {
            "/a?x=~%2f": "%7e is decoded",
            "/a?x=~%2F": "percent-encoding is changed: %7e is decoded, %2f becomes %2F",
            "/a?x=~/": "percent-encoding is changed: the query is decoded",
            "/a?x=%7E%2F": "percent-encoding is changed: the hex digits become upper case",
            "/a?x=%257e%252f": "percent-encoding is changed: % is encoded again",
        },
        QUERY,
    ),
    Spelling(
        "empty parameters",
        "/a?x=&y",
        {"/a?x=&y=": "an equals sign is added", "/a?x&y": "an equals sign is dropped", "/a?y": "x= is dropped"},
        QUERY,
    ),
    Spelling("a question mark without a query", "/a?", {"/a": "the ? is lost"}, LONE_QUESTION_MARK),
    Spelling("a second question mark", "/a??x", {"/a?x": "a ? is lost", "/a?%3Fx": "? becomes %3F"}, QUERY),
)
"""The request targets that are sent to every server."""

_JSON = b'{ "undersigned": "doctor",  "caf\\u00e9": [1.0, 1e2, "\xc3\xa9"] }\r\n'
_REWRITTEN: Mapping[bytes, str] = {
    b"": "it is dropped",
    _JSON.rstrip(): "the white space at its end is dropped",
    _JSON.replace(b"\r\n", b"\n"): "CR LF becomes LF",
    json.dumps(json.loads(_JSON)).encode(): "the JSON is rewritten",
    json.dumps(json.loads(_JSON), separators=(",", ":")).encode(): "the JSON is rewritten",
    json.dumps(json.loads(_JSON), separators=(",", ":"), ensure_ascii=False).encode(): "the JSON is rewritten",
}

CONTENTS = (
    Content("content", chunked=False, sent=_JSON, rewritings=_REWRITTEN),
    Content("content in chunks", chunked=True, sent=_JSON, rewritings=_REWRITTEN),
)
"""The contents that are also sent if the method takes content."""

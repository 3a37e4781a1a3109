"""What the doctor sends: targets and content that reveal one kind of change each, and what may arrive instead."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.explanation.advice import PATH, QUERY

if TYPE_CHECKING:
    from collections.abc import Mapping


class Spelling(NamedTuple):
    """A valid request target that reveals one kind of change in transit.

    Some changes are part of canonicalization, such as removed dot segments, a decoded `%7e`, and escapes in upper case.
    They change no signature, so no spelling tests them.

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


SPELLINGS: Final = (
    Spelling("repeated slashes", "/a//b", {"/a/b": "the slashes are merged"}),
    Spelling("an encoded slash", "/a%2Fb", {"/a/b": "%2F is decoded", "/a%252Fb": "% is encoded again"}),
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
    Spelling(
        "a question mark without a query",
        "/a?",
        {"/a": "the ? is lost"},
        "nginx: `proxy_pass http://app;` without a path, and no rewrite. If that is not possible, clients must not "
        "send a ? without a query",
    ),
    Spelling("a second question mark", "/a??x", {"/a?x": "a ? is lost", "/a?%3Fx": "? becomes %3F"}, QUERY),
)
"""The request targets that are sent to every server."""

JSON: Final = b'{ "undersigned": "doctor",  "caf\\u00e9": [1.0, 1e2, "\xc3\xa9"] }\r\n'
REWRITTEN: Final[Mapping[bytes, str]] = {
    b"": "it is dropped",
    JSON.rstrip(): "the white space at its end is dropped",
    JSON.replace(b"\r\n", b"\n"): "CR LF becomes LF",
    json.dumps(json.loads(JSON)).encode(): "the JSON is rewritten",
    json.dumps(json.loads(JSON), separators=(",", ":")).encode(): "the JSON is rewritten",
    json.dumps(json.loads(JSON), separators=(",", ":"), ensure_ascii=False).encode(): "the JSON is rewritten",
}

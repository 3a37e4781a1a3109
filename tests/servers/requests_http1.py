"""Requests over HTTP/1.1, byte for byte: valid requests in unusual spellings, and attacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.keys import KEY, foreign_fields

from undersigned import Request, Signer, profiles

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "seller.example.com"
ORIGIN = f"https://{HOST}"
JSON = [("Content-Type", "application/json")]
BODY = b'{"plan_id":"plan_001"}'
SIGNER = Signer(KEY, profile=profiles.ADCP_3_2)


def signed(method: str, url: str, fields=(), body: bytes = b"") -> list[tuple[str, str]]:
    """Return the given fields with the fields that sign them."""
    return foreign_fields(Request(method, url, fields, body), by=SIGNER)


def write_request(line: str, fields, content: bytes = b"") -> bytes:
    """Return a request of this request line, these fields and this content, with `Connection: close` added."""
    lines = [line, *(f"{name}: {value}" for name, value in fields), "Connection: close"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


def write_chunked(body: bytes = BODY, trailers: str = "") -> bytes:
    return f"5\r\n{body[:5].decode()}\r\n{len(body) - 5:x}\r\n{body[5:].decode()}\r\n0\r\n{trailers}\r\n".encode()


@dataclass(frozen=True)
class Honest:
    """A valid request: the target, the Host, the signed URL, and the path that the application sees."""

    target: str
    path: str
    host: str = HOST
    url: str = ""
    body: bytes = b""
    chunked: bool = False

    def raw(self) -> bytes:
        method = "POST" if self.body else "GET"
        fields = signed(method, self.url or ORIGIN + self.target, JSON if self.body else (), self.body)
        content = write_chunked(self.body) if self.chunked else self.body
        if self.body:
            fields.append(("Transfer-Encoding", "chunked") if self.chunked else ("Content-Length", str(len(content))))
        return write_request(f"{method} {self.target} HTTP/1.1", [("Host", self.host), *fields], content)


IPV6 = "https://[2001:db8::1]:8443"
HONEST = {
    "encoded slash, slashes, dots, unreserved": Honest("/a%2Fb//c/./d/%7Eu?b=2&a=1", "/a/b//c/d/~u"),
    "lone question mark": Honest("/p?", "/p"),
    "no query": Honest("/p", "/p"),
    "two question marks": Honest("/p??x", "/p"),
    "non-ascii, encoded": Honest("/caf%C3%A9", "/café"),
    "non-ascii, encoded in lower case": Honest("/caf%c3%a9/%2f", "/café//"),
    "non-ascii, three octets": Honest("/%E2%82%AC", "/\u20ac"),
    "non-ascii, four octets": Honest("/%F0%9F%98%80", "/\U0001f600"),
    "not utf-8": Honest("/%ff", "/\ufffd"),
    "plus and space in the query": Honest("/p?x=a+b%20c", "/p"),
    "hyphens in the query": Honest("/p?date=2026-11-21&id=a-b", "/p"),
    "raw in the query": Honest("/p?a[]=1|2^3`4{5}", "/p"),
    "raw in the path": Honest("/a[1]|b^c", "/a[1]|b^c"),
    "raw after slashes": Honest("/x//[|]/p?x=//[", "/x//[|]/p"),
    "plus in the path": Honest("/a+b%2Bc", "/a+b+c"),
    "parameters": Honest("/a;p=1/b;c?d=1;e=2", "/a;p=1/b;c"),
    "slashes first": Honest("//evil.example/p", "//evil.example/p"),
    "dot segments": Honest("/adcp/./create", "/adcp/create"),
    "dot segments up": Honest("/x/../adcp/create", "/adcp/create"),
    "the root": Honest("/", "/"),
    "upper-case host": Honest("/p", "/p", host="SELLER.Example.com"),
    "default port": Honest("/p", "/p", host=f"{HOST}:443"),
    "root dot": Honest("/p", "/p", host=f"{HOST}."),
    "ipv6": Honest("/p", "/p", host="[2001:DB8::1]:8443", url=f"{IPV6}/p"),
    "a long path": Honest("/" + "a" * 2000, "/" + "a" * 2000),
    "a long query": Honest("/p?" + "q" * 7000, "/p"),
    "content": Honest("/adcp/create", "/adcp/create", body=BODY),
    "chunked content": Honest("/adcp/create", "/adcp/create", body=BODY, chunked=True),
    "100 KB of content": Honest("/adcp/create", "/adcp/create", body=b'{"x":"' + b"y" * 100_000 + b'"}'),
}


@dataclass(frozen=True)
class Attack:
    """A request that must not reach the application.

    Attributes:
        make: makes the request, signed at that moment, so that the signature has not expired.
        ends: whether the client closes its side afterwards.
        url: the signed URL.
    """

    make: Callable[[], bytes]
    ends: bool = False
    url: str = f"{ORIGIN}/p"


def target(spelled: str, *, signed_for: str = "/p", method: str = "GET") -> Attack:
    url = ORIGIN + signed_for
    return Attack(
        lambda: write_request(f"{method} {spelled} HTTP/1.1", [("Host", HOST), *signed(method, url)]), url=url
    )


def hosts(*values: str, version: str = "1.1") -> Attack:
    named = [("Host", value) for value in values]
    return Attack(lambda: write_request(f"GET /p HTTP/{version}", [*named, *signed("GET", f"{ORIGIN}/p")]))


def post(*before: tuple[str, str], content: bytes = BODY, ends: bool = False, after=(), json=JSON) -> Attack:
    """Return a POST signed over BODY, with these fields and this content."""

    def make() -> bytes:
        fields = signed("POST", f"{ORIGIN}/p", JSON, BODY)[len(JSON) :]
        return write_request("POST /p HTTP/1.1", [("Host", HOST), *before, *json, *fields, *after], content)

    return Attack(make, ends=ends)


def get(
    *extra: tuple[str, str], first=(), content: bytes = b"", line: str = "GET /p HTTP/1.1", host: str = "Host"
) -> Attack:
    """Return what was signed as a GET with fields, and maybe content, a request line or a Host, that are not signed."""
    return Attack(lambda: write_request(line, [*first, (host, HOST), *signed("GET", f"{ORIGIN}/p"), *extra], content))


LENGTH = ("Content-Length", str(len(BODY)))
CHUNKED = ("Transfer-Encoding", "chunked")
ALIAS = 'sig2=("@path");created=1;expires=2;nonce="AAAAAAAAAAAAAAAAAAAAAA";keyid="evil";alg="ed25519";tag="x"'

ATTACKS = {
    # Unsigned targets that decode, merge or resolve to the signed one.
    "encoded slash for a slash": target("/admin%2Fx", signed_for="/admin/x"),
    "slash for an encoded slash": target("/admin/x", signed_for="/admin%2Fx"),
    "an authority in the path": target("//evil.example/p"),
    "a doubled slash": target("//p"),
    "a doubled slash inside": target("/a//b", signed_for="/a/b"),
    "dot segments, encoded": target("/a%2e%2e/b", signed_for="/b"),
    "a dot segment, encoded": target("/a/%2e%2e/b", signed_for="/b"),
    "a fragment, encoded": target("/x%23f", signed_for="/x"),
    "a question mark, encoded": target("/p%3Fx=1", signed_for="/p?x=1"),
    "a NUL, encoded": target("/p%00"),
    "another query": target("/p?x=1"),
    "another case": target("/P"),
    # Targets that are not a path and a query.
    "absolute-form, own host": target(f"{ORIGIN}/p"),
    "absolute-form, http": target(f"http://{HOST}/p"),
    "absolute-form, other host": target("http://evil.example/p"),
    "absolute-form, userinfo": target(f"http://user:pw@{HOST}/p"),
    "absolute-form, no path": target(f"http://{HOST}", signed_for="/"),
    "authority-form": target(f"{HOST}:443", signed_for="/", method="CONNECT"),
    "asterisk-form": target("*", signed_for="/", method="OPTIONS"),
    "no slash": target("p"),
    "fragment": target("/p#f"),
    "fragment after the query": target("/p?x=1#f", signed_for="/p?x=1"),
    "backslash": target("/\\p"),
    "a control": target("/p\x01"),
    "NUL": target("/p\x00"),
    "DEL": target("/p\x7f"),
    "a tab": target("/p\tq"),
    "UTF-8": target("/caf\u00c3\u00a9", signed_for="/caf%C3%A9"),
    "Latin-1 in the query": target("/p?q=\u00e9", signed_for="/p?q=%E9"),
    "a percent sign": target("/p%"),
    "half an escape": target("/p%4"),
    "no hexadecimal escape": target("/p%zz"),
    "no hexadecimal escape in the query": target("/p?%zz", signed_for="/p?"),
    "a pipe": target("/p|q"),
    "a pipe for an encoded pipe": target("/p|q", signed_for="/p%7Cq"),
    "an encoded pipe for a pipe": target("/p%7Cq", signed_for="/p|q"),
    "brackets in the query": target("/p?a[]=1", signed_for="/p?a%5B%5D=1"),
    "encoded brackets in the query": target("/p?a%5B%5D=1", signed_for="/p?a[]=1"),
    "a brace in the path": target("/p{", signed_for="/p%7B"),
    "a grave accent in the path": target("/p`", signed_for="/p%60"),
    "angle brackets in the query": target("/p?a=<b>", signed_for="/p?a=%3Cb%3E"),
    "a space": target("/p q"),
    "two spaces in the request line": target(" /p"),
    # The method.
    "another method": get(line="DELETE /p HTTP/1.1"),
    "lower-case method": get(line="get /p HTTP/1.1"),
    # Authorities.
    "no Host": hosts(),
    "no Host in HTTP/1.0": hosts(version="1.0"),
    "two Hosts, equal": hosts(HOST, HOST),
    "two Hosts, the second evil": hosts(HOST, "evil.example"),
    "two Hosts, the first evil": hosts("evil.example", HOST),
    "empty Host": hosts(""),
    "userinfo": hosts(f"user@{HOST}"),
    "a comma": hosts(f"{HOST}, evil.example"),
    "a comma without space": hosts(f"{HOST},{HOST}"),
    "a space inside": hosts(f"{HOST} evil.example"),
    "a slash": hosts(f"{HOST}/p"),
    "a percent sign in Host": hosts("seller%2Eexample.com"),
    "a fragment in Host": hosts(f"{HOST}#f"),
    "a hexadecimal port": hosts(f"{HOST}:0x1bb"),
    "a port too large": hosts(f"{HOST}:65979"),
    "another port": hosts(f"{HOST}:8443"),
    "two root dots": hosts(f"{HOST}.."),
    "Latin-1": hosts("s\u00e9ller.example.com"),
    "another host": hosts("evil.example"),
    "another of our own hosts": hosts("[2001:db8::1]:8443"),
    "a folded Host": hosts(f"{HOST}\r\n evil.example"),
    "Host before a space and the colon": get(host="Host "),
    "another host, ours forwarded": get(
        ("X-Forwarded-Host", HOST), ("Forwarded", f"host={HOST};proto=https"), first=(("Host", "evil.example"),)
    ),
    # Fields.
    "a folded Content-Type": post(LENGTH, json=[("Content-Type", "application/json\r\n ;charset=evil")]),
    "a folded Content-Type, cut": post(LENGTH, json=[("Content-Type", "application/json\r\n\tevil")]),
    "two Content-Types, the first evil": post(LENGTH, ("Content-Type", "text/evil")),
    "two Content-Types, the second evil": post(LENGTH, after=[("Content-Type", "text/evil")]),
    "Content_Type for Content-Type": post(LENGTH, json=[("Content_Type", "application/json")]),
    "an empty field name": get(("", "evil")),
    "a field name with a space": get(("X User", "admin")),
    "a NUL in a field": get(("X-User", "a\x00b")),
    "a carriage return in a field": get(("X-User", "a\rb")),
    "Signature_Input with Signature-Input": get(("Signature_Input", ALIAS)),
    "Signature_Input before Signature-Input": get(first=(("Signature_Input", ALIAS),)),
    "Signature_Input of the same label with Signature-Input": get(("Signature_Input", ALIAS.replace("sig2", "sig1"))),
    "Signature_Input of the same label before Signature-Input": get(
        first=(("Signature_Input", ALIAS.replace("sig2", "sig1")),)
    ),
    "Signature twice": get(("Signature", "sig1=:AAAA:")),
    "Signature-Input twice": get(("Signature-Input", ALIAS.replace("sig2", "sig1"))),
    # Content.
    "other content": post(LENGTH, content=BODY.replace(b"1", b"2")),
    "no content": post(("Content-Length", "0"), content=b""),
    "no content and no length": post(content=b""),
    "content cut short": post(LENGTH, content=BODY[:-4], ends=True),
    "a length cut short": post(("Content-Length", str(len(BODY) - 4))),
    "a length with a sign": post(("Content-Length", f"+{len(BODY)}")),
    "a list of lengths": post(("Content-Length", f"{len(BODY)}, {len(BODY)}")),
    "two lengths": post(LENGTH, ("Content-Length", str(len(BODY) - 4))),
    "chunks cut short": post(CHUNKED, content=write_chunked()[:-12], ends=True),
    "a chunk of no size": post(CHUNKED, content=b"zz\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "Content-Length before Transfer-Encoding": post(LENGTH, CHUNKED, content=write_chunked()),
    "Transfer-Encoding before Content-Length": post(CHUNKED, LENGTH, content=write_chunked()),
    "an unknown Transfer-Encoding": post(("Transfer-Encoding", "xchunked"), content=write_chunked()),
    "content of a GET signed without": get(LENGTH, content=BODY),
}

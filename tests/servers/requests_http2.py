"""Requests over HTTP/2: valid requests, and attacks."""

from __future__ import annotations

from dataclasses import dataclass

from tests.servers.requests_http1 import BODY, HOST, JSON, ORIGIN, signed


@dataclass(frozen=True)
class Sent:
    """A request: its fields, its content, its trailers, and the signed URL."""

    fields: list[tuple[str, str]]
    content: bytes | None = None
    trailers: list[tuple[str, str]] | None = None
    url: str = f"{ORIGIN}/p"
    path: str = "/p"


def request(
    *pseudo: tuple[str, str],
    method: str = "GET",
    url: str = f"{ORIGIN}/p",
    path: str = "/p",
    body: bytes = b"",
    extra=(),
    content: bytes | None = None,
    trailers=None,
    scheme: str = "http",
):
    """Return a signed request with these pseudo-fields after `:method` and `:scheme`."""

    def make() -> Sent:
        own = signed(method, url, JSON if body else (), body)
        fields = [(":method", method), (":scheme", scheme), *pseudo]
        fields += [(name.lower(), value) for name, value in (*own, *extra)]
        return Sent(fields, content if content is not None else body or None, trailers, url, path)

    return make


def to(spelled: str, *, signed_for: str = "", path: str = "/p", **options):
    return request((":authority", HOST), (":path", spelled), url=ORIGIN + (signed_for or spelled), path=path, **options)


def at(*pseudo: tuple[str, str], **options):
    return request(*pseudo, (":path", "/p"), **options)


LENGTH = ("content-length", str(len(BODY)))

HONEST = {
    "encoded slash, slashes, dots, unreserved": to("/a%2Fb//c/./d/%7Eu?b=2&a=1", path="/a/b//c/d/~u"),
    "lone question mark": to("/p?"),
    "non-ascii, encoded": to("/caf%c3%a9", path="/café"),
    "slashes first": to("//evil.example/p", path="//evil.example/p"),
    "plus and space in the query": to("/p?x=a+b%20c"),
    "raw in the query": to("/p?a[]=1|2^3`4{5}"),
    "raw in the path": to("/a[1]|b^c", path="/a[1]|b^c"),
    "hyphens in the query": to("/p?date=2026-11-21&id=a-b"),
    "dot segments": to("/adcp/./create", path="/adcp/create"),
    "a long target": to("/" + "a" * 2000 + "?" + "q" * 5000, path="/" + "a" * 2000),
    "upper-case authority": at((":authority", "SELLER.example.com")),
    "default port": at((":authority", f"{HOST}:443")),
    "ipv6": at((":authority", "[2001:DB8::1]:8443"), url="https://[2001:db8::1]:8443/p"),
    "host and :authority, equal": at((":authority", HOST), extra=[("host", HOST)]),
    "content": to("/p", method="POST", body=BODY, extra=[LENGTH]),
    "content without a length": to("/p", method="POST", body=BODY),
    "another scheme": at((":authority", HOST), scheme="https"),
}

ATTACKS = {
    "host for :authority": at((":authority", HOST), extra=[("host", "evil.example")]),
    "our host, another :authority": at((":authority", "evil.example"), extra=[("host", HOST)]),
    "host in another case": at((":authority", HOST), extra=[("host", "Seller.example.com")]),
    "host with the default port": at((":authority", HOST), extra=[("host", f"{HOST}:443")]),
    "two hosts, no :authority": at(extra=[("host", HOST), ("host", "evil.example")]),
    "two :authority": at((":authority", HOST), (":authority", "evil.example")),
    "neither": at(),
    "an empty :authority": at((":authority", "")),
    "an empty host": at((":authority", HOST), extra=[("host", "")]),
    "userinfo": at((":authority", f"user:pw@{HOST}")),
    "a comma": at((":authority", f"{HOST}, evil.example")),
    "a slash": at((":authority", f"{HOST}/p")),
    "another authority": at((":authority", "evil.example")),
    "another of our own": at((":authority", "[2001:db8::1]:8443")),
    "encoded slash for a slash": to("/admin%2Fx", signed_for="/admin/x"),
    "an authority in the path": to("//evil.example/p", signed_for="/p"),
    "dot segments, encoded": to("/a%2e%2e/b", signed_for="/b"),
    "a fragment, encoded": to("/x%23f", signed_for="/x"),
    "absolute-form": to("http://evil.example/p", signed_for="/p"),
    "absolute-form, own host": to(f"{ORIGIN}/p", signed_for="/p"),
    "asterisk-form": to("*", signed_for="/", method="OPTIONS"),
    "no slash": to("p", signed_for="/p"),
    "an empty path": to("", signed_for="/"),
    "fragment": to("/p#f", signed_for="/p"),
    "backslash": to("/\\p", signed_for="/p"),
    "a space": to("/p q", signed_for="/p"),
    "UTF-8": to("/caf\u00e9", signed_for="/caf%C3%A9"),
    "a percent sign": to("/p%", signed_for="/p"),
    "CONNECT": request((":authority", f"{HOST}:443"), (":path", "/"), method="CONNECT", url=f"{ORIGIN}/"),
    "other content": to("/p", method="POST", body=BODY, content=BODY.replace(b"1", b"2"), extra=[LENGTH]),
    "content cut short": to("/p", method="POST", body=BODY, content=BODY[:-4], extra=[LENGTH]),
    "content cut short without a length": to("/p", method="POST", body=BODY, content=BODY[:-4]),
    "content longer than its length": to("/p", method="POST", body=BODY, content=BODY + b"evil", extra=[LENGTH]),
    "Signature_Input with Signature-Input": at((":authority", HOST), extra=[("signature_input", "sig2=()")]),
    "an empty field name": at((":authority", HOST), extra=[("", "evil")]),
    "a line end in a field": at((":authority", HOST), extra=[("x-user", "a\r\nb")]),
    "two content types": to("/p", method="POST", body=BODY, extra=[LENGTH, ("content-type", "text/evil")]),
}

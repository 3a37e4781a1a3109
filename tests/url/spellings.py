"""Hypothesis strategies: canonical URLs, other spellings of them, and text that looks like a URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

from undersigned.url import ADCP_RECEIVED, MalformedURL

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = {rule.name: rule for rule in ADCP_RECEIVED}
"""The rules of AdCP by name."""

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "\\#")
_RESERVED_TRIPLETS = [f"%{code:02X}" for code in range(256) if chr(code) not in UNRESERVED]

_labels = st.from_regex(r"[a-z0-9_-]{1,20}", fullmatch=True).filter(lambda label: not label.startswith("xn--"))
_names = st.lists(_labels, min_size=1, max_size=5).map(".".join)
_segments = (
    st.lists(
        st.one_of(
            st.text(st.sampled_from([char for char in _PRINTABLE if char not in "/?%"]), max_size=6),
            st.sampled_from(_RESERVED_TRIPLETS),
            st.sampled_from([".", ".."]),
        ),
        max_size=4,
    )
    .map("".join)
    .filter(lambda segment: segment not in {".", ".."})
)
_queries = st.none() | st.text(st.sampled_from(_PRINTABLE), max_size=12)
_ports = st.sampled_from(["", ":0", ":1", ":81", ":4430"]) | st.integers(1000, 65535).map(":{}".format)


Answer = TypeVar("Answer")


def outcome(ask: Callable[[], Answer]) -> Answer | MalformedURL:
    """Return the result of `ask()`, or the `MalformedURL` that it raises."""
    try:
        return ask()
    except MalformedURL as error:
        return error


@dataclass(frozen=True, slots=True)
class Parts:
    """A canonical URL, split into the pieces that have several spellings."""

    scheme: str
    host: str
    port: str
    segments: tuple[str, ...]
    query: str | None

    @property
    def text(self) -> str:
        query = "" if self.query is None else f"?{self.query}"
        return f"{self.scheme}://{self.host}{self.port}/{'/'.join(self.segments)}{query}"


canonical_parts = st.builds(
    Parts,
    scheme=st.sampled_from(["https", "http"]),
    host=_names | st.sampled_from(["192.0.2.7", "[2001:db8::1]", "[::ffff:192.0.2.7]", "xn--mnchen-3ya.test"]),
    port=_ports,
    segments=st.lists(_segments, min_size=1, max_size=4).map(tuple),
    query=_queries,
)
canonical_urls = canonical_parts.map(lambda parts: parts.text)


@st.composite
def respellings(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a canonical URL and another spelling that the rules change to it."""
    parts = draw(canonical_parts)
    cased = draw(st.randoms(use_true_random=False))

    def recase(text: str) -> str:
        return "".join(cased.choice([char.lower(), char.upper()]) for char in text)

    def encode(segment: str) -> str:
        out, rest = "", segment
        while rest:
            if rest[0] == "%":
                out, rest = out + recase(rest[:3]), rest[3:]
            else:
                # A dot stays, because an encoded dot could be read as a dot segment.
                hidden = rest[0] in UNRESERVED and rest[0] != "." and draw(st.integers(0, 3)) == 0
                out, rest = out + (recase(f"%{ord(rest[0]):02X}") if hidden else rest[0]), rest[1:]
        return out

    host = parts.host
    if host == "xn--mnchen-3ya.test" and draw(st.booleans()):
        host = draw(st.sampled_from(["münchen.test", "MÜNCHEN。test", "mu\N{COMBINING DIAERESIS}nchen.test"]))
    else:
        host = recase(host)
    if host[0] != "[" and not host.rpartition(".")[2].isdigit():
        host += draw(st.sampled_from(["", "."]))
    default = ":443" if parts.scheme == "https" else ":80"
    ports = [":", default, f":00{default[1:]}"] if not parts.port else [f":0{parts.port[1:]}"]
    port = draw(st.sampled_from([parts.port, *ports]))
    user = draw(st.sampled_from(["", "@", "ann@", "ann:pass@", "a%zz:b:c@"]))
    segments: list[str] = []
    for segment in parts.segments:
        segments += draw(st.sampled_from([[], ["."], ["x", ".."], ["", ".."], [".", "x", "..", "."]]))
        segments.append(encode(segment))
    path = "/" + "/".join(segments)
    if parts.segments == ("",) and draw(st.booleans()):
        path = draw(st.sampled_from(["", "/.", "/..", "/a/..", "/../."]))
    query = "" if parts.query is None else f"?{parts.query}"
    mark = draw(st.sampled_from(["", "#", "#f", "#?#/../%zz"]))
    return parts.text, f"{recase(parts.scheme)}://{user}{host}{port}{path}{query}{mark}"


_WORDS = r"""
https:// http:// HTTPS:// // ftp: ads.pub.test Ads. münchen xn--mnchen-3ya xn-- xn--a [::1] [ ] [v1.a] %25eth0 192.0.2.7
0x7f : :443 :80 :00 :65536 @ ann@ / // . .. /. /.. %2e %2E %7e %41 %2f %2F % %zz ? # &a=b + \ " ! | ~ a Z 0 - _ ß
"""
_CHARACTERS = " \t\n\r\x00\x1b\x7f\x85\u2028\u00ad\u200d\u3002\uff0e\u05d0\u0663\U0001f600\ud800"
_PIECES = [*_WORDS.split(), *_CHARACTERS]
hostile = st.one_of(
    st.text(st.characters(), max_size=30),
    st.lists(st.sampled_from(_PIECES), max_size=10).map("".join),
    st.lists(st.sampled_from(_PIECES), max_size=10).map(lambda pieces: "https://" + "".join(pieces)),
    st.lists(st.sampled_from(_PIECES), max_size=10).map(lambda pieces: "https://ads.pub.test" + "".join(pieces)),
    st.text(st.sampled_from("aZ0.-_:@/?#%[]\\ é。"), max_size=20).map(lambda text: "https://a" + text),
    respellings().map(lambda pair: pair[1]),
    canonical_urls,
)
"""Text that reaches every rule and every rejection."""

_GENERIC = """
MAILTO: mailto: Tag: URN: urn:Example: file: FILE:// example: eXAMPLE:// ws:// ftp:// svn+ssh:// //localhost localhost
Ann@Example.COM , Joe@b :21 %C3%A9 %c3%a9 %C7 e%CC%81 %CC%81 é e\u0301 ; = =%CC%B8 www. /index.html + %2B %2520 %%34
. ..
"""
identifiers = st.one_of(
    st.lists(st.sampled_from([*_GENERIC.split(), *_PIECES]), max_size=8).map("".join),
    st.tuples(
        st.sampled_from([piece for piece in _GENERIC.split() if ":" in piece]),
        st.lists(st.sampled_from([*_GENERIC.split(), *_PIECES]), max_size=7).map("".join),
    ).map("".join),
    hostile,
)
"""Text that looks like an identifier of some scheme, and text that does not."""

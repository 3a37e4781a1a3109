"""Parts of requests: valid parts for a correct client, any text for a hostile one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import http_sf
from hypothesis import strategies as st

TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
RESERVED = {"signature", "signature-input", "content-digest", "content-type", "host", "set-cookie"}

methods = st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "M-SEARCH", "A"])
names = st.text("abcdefghijklmnopqrstuvwxyz-0123456789", min_size=1, max_size=12).filter(lambda n: n not in RESERVED)
values = st.text(PRINTABLE + "\t", max_size=30)
fields = st.lists(st.tuples(names, values), max_size=6)
bodies = st.binary(max_size=200)
media_types = st.sampled_from(["text/plain", "application/octet-stream", 'multipart/form-data; boundary="a,b"'])
nonces = st.binary(min_size=16, max_size=40)

_labels = st.from_regex(r"[A-Za-z]([A-Za-z0-9_-]{0,8}[A-Za-z0-9])?", fullmatch=True).filter(
    lambda label: not label.lower().startswith("xn--")
)
_hosts = st.one_of(
    st.lists(_labels, min_size=1, max_size=3).map(".".join),
    st.ip_addresses(v=6).map(lambda address: f"[{str(address).upper()}]"),
    st.ip_addresses(v=4).map(str),
)
_triplets = st.integers(0, 255).filter(lambda octet: octet != 0x2E).map(lambda octet: f"%{octet:02x}")
_segments = st.lists(st.sampled_from([*"aZ09-_~!$&'()*+,;=:@", "..", "."]) | _triplets, max_size=6).map("".join)
_characters = st.sampled_from("abcAZ019-._~!$&'()*+,;=:@/?")
_queries = st.lists(_characters | st.sampled_from(["%41", "%2f", "%FF"]), max_size=20).map("".join)


@st.composite
def urls(draw) -> str:
    """A URL with a canonical form, seldom in it."""
    scheme = draw(st.sampled_from(["https", "http", "HTTPS"]))
    userinfo = draw(st.sampled_from(["", "", "user@", "u:p@"]))
    port = draw(st.sampled_from(["", "", ":443", ":80", ":8443", ":"]))
    path = "".join(f"/{segment}" for segment in draw(st.lists(_segments, max_size=4)))
    query = draw(st.none() | _queries)
    fragment = draw(st.sampled_from(["", "", "#f"]))
    return f"{scheme}://{userinfo}{draw(_hosts)}{port}{path}{'' if query is None else f'?{query}'}{fragment}"


any_text = st.text(st.characters(), max_size=40) | st.text(
    "\ud800\udfff\x00\r\n\t \xe9\u212a\u2028\":;=,()\\%@?'", max_size=20
)

keys = st.from_regex(r"[a-z*][a-z0-9_.*-]{0,6}", fullmatch=True)
bare_items = st.one_of(
    st.booleans(),
    st.integers(-999_999_999_999_999, 999_999_999_999_999),
    st.decimals(Decimal(-(10**11)), Decimal(10**11), places=3),
    st.text(PRINTABLE, max_size=12),
    st.from_regex(r"[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]{0,8}", fullmatch=True).map(http_sf.Token),
    st.binary(max_size=12),
    st.integers(-62_135_596_800, 253_402_300_799).map(
        lambda s: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=s)
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(http_sf.DisplayString),
)
parameter_sets = st.dictionaries(keys, bare_items, max_size=4)
component_names = names | st.sampled_from(["@method", "@target-uri", "@authority", "@path", "@query", "@query-param"])
inner_lists = st.tuples(
    st.lists(st.tuples(component_names, st.just({}) | parameter_sets), max_size=5, unique_by=lambda item: item[0]),
    parameter_sets,
)

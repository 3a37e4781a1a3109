"""Intermediaries: the proxies between client and server, by the names that their answers show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from undersigned.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_EVIDENCE: Final = 100
"""Upper bound on the characters of a header field that a report shows."""


class _Sign(NamedTuple):
    """A sign of an intermediary: a header field, and a text in its value in lower case, or "" for any value."""

    name: str
    field: str
    text: str = ""


_SIGNS: Final = (
    _Sign("Cloudflare", "cf-ray"),
    _Sign("Cloudflare", "server", "cloudflare"),
    _Sign("Amazon CloudFront", "x-amz-cf-id"),
    _Sign("Amazon CloudFront", "via", "cloudfront"),
    _Sign("AWS Elastic Load Balancing", "server", "awselb"),
    _Sign("Amazon API Gateway", "x-amz-apigw-id"),
    _Sign("Amazon API Gateway", "apigw-requestid"),
    _Sign("Azure Front Door", "x-azure-ref"),
    _Sign("Google Cloud load balancing", "via", "1.1 google"),
    _Sign("Google Cloud load balancing", "server", "google frontend"),
    _Sign("Akamai", "server", "akamai"),
    _Sign("Akamai", "x-akamai-transformed"),
    _Sign("Fastly", "x-served-by", "cache-"),
    _Sign("Varnish", "x-varnish"),
    _Sign("Varnish", "via", "varnish"),
    _Sign("Envoy", "server", "envoy"),
    _Sign("Envoy", "x-envoy-upstream-service-time"),
    _Sign("OpenResty", "server", "openresty"),
    _Sign("Tengine", "server", "tengine"),
    _Sign("nginx", "server", "nginx"),
    _Sign("Apache httpd", "server", "apache"),
    _Sign("Apache Traffic Server", "server", "ats/"),
    _Sign("Apache Traffic Server", "via", "trafficserver"),
    _Sign("Caddy", "server", "caddy"),
    _Sign("Caddy", "via", "caddy"),
    _Sign("HAProxy", "server", "haproxy"),
    _Sign("HAProxy", "via", "haproxy"),
    _Sign("Kong", "via", "kong"),
    _Sign("Kong", "server", "kong"),
    _Sign("Kong", "x-kong-proxy-latency"),
    _Sign("Squid", "via", "squid"),
    _Sign("nghttpx", "via", "nghttpx"),
    _Sign("nghttpx", "server", "nghttpx"),
    _Sign("H2O", "server", "h2o"),
    _Sign("LiteSpeed", "server", "litespeed"),
    _Sign("Microsoft IIS", "server", "microsoft-iis"),
    _Sign("Heroku", "via", "vegur"),
    _Sign("Heroku", "via", "heroku"),
    _Sign("Vercel", "x-vercel-id"),
    _Sign("Netlify", "x-nf-request-id"),
    _Sign("Fly.io", "fly-request-id"),
    _Sign("Render", "x-render-origin-server"),
)
_UNNAMED: Final = (
    _Sign("a proxy that is not known by name", "via"),
    _Sign("a cache that is not known by name", "x-cache"),
)

FIELDS: Final = frozenset(sign.field for sign in (*_SIGNS, *_UNNAMED))
"""The names of the header fields, in lower case, that show intermediaries."""


@dataclass(frozen=True, slots=True)
class Intermediary:
    """A proxy, a cache or a server before the application.

    Attributes:
        name: its name.
        evidence: the header field that shows it, as printable ASCII.
    """

    name: str
    evidence: str


def intermediaries(fields: Iterable[tuple[str, str]]) -> Iterator[Intermediary]:
    """Yield the intermediaries that the header fields of an answer show, each once.

    A proxy that shows nothing is not found, as HAProxy and most load balancers by default.

    Args:
        fields: the header fields, their names in lower case.
    """
    given = list(fields)
    found: dict[str, Intermediary] = {}
    for sign in _SIGNS:
        for name, value in given:
            if name == sign.field and sign.text in value.lower():
                found.setdefault(sign.name, _intermediary(sign, value))
    for sign in () if found else _UNNAMED:
        for name, value in given:
            if name == sign.field:
                found.setdefault(sign.name, _intermediary(sign, value))
    yield from found.values()


def _intermediary(sign: _Sign, value: str) -> Intermediary:
    return Intermediary(sign.name, f"{sign.field}: {printable(value, limit=LONGEST_EVIDENCE)}")

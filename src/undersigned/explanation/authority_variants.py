"""Variants of scheme, host and port, of the method, and of a target that was signed before canonicalization."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from undersigned.errors import MalformedURL
from undersigned.explanation.variant import Alternative, Variant
from undersigned.url import canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.explanation.values import SignedValues

COMMON_PORTS: Final = ("443", "80", "8443", "8080", "8000", "5000", "3000", "8888", "9000")
"""Ports of a server that a proxy does not forward, or forwards in place of the public one."""

HOST_FIELDS: Final = ("x-forwarded-host", "x-original-host", "x-forwarded-server", ":authority", "host")
"""Header fields in which proxies name the host that the client asked for."""

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

_FORWARDED_HOST: Final = re.compile(r'host="?([^";,\s]+)', re.IGNORECASE)
_OVERRIDES: Final = ("x-http-method-override", "x-http-method", "x-method-override")


def _other_scheme(values: SignedValues) -> Iterator[Alternative]:
    scheme = "http" if values.scheme == "https" else "https"
    yield Alternative(values._replace(scheme=scheme), scheme, values.scheme)


def _other_port(values: SignedValues) -> Iterator[Alternative]:
    host = values.target.host
    named = values.fields.combined.get("x-forwarded-port", "")
    ports = (named,) if named.isascii() and named.isdigit() and len(named) <= len("65535") else ()
    for authority in dict.fromkeys((host, *(f"{host}:{port}" for port in (*ports, *COMMON_PORTS)))):
        yield Alternative(values._replace(authority=authority), authority, values.authority)


def _other_host(values: SignedValues) -> Iterator[Alternative]:
    fields = values.fields.combined
    named = [one.strip() for name in HOST_FIELDS for one in fields.get(name, "").split(",")[:4]]
    named += _FORWARDED_HOST.findall(fields.get("forwarded", "")[:1024])[:4]
    for text in dict.fromkeys((*values.authorities, *named)):
        try:
            authority = canonicalize_authority(text, values.scheme, received=True)
        except MalformedURL:
            continue
        yield Alternative(values._replace(authority=authority), authority, values.authority)


def _not_canonical(values: SignedValues) -> Iterator[Alternative]:
    typed = values.typed
    as_typed = values._replace(path=typed.path or "/", query=typed.query)
    authority = typed.authority or values.authority
    for signed in (
        as_typed,
        values._replace(authority=authority),
        as_typed._replace(authority=authority),
        as_typed._replace(authority=authority, path=typed.path),
    ):
        yield Alternative(signed, signed.target.target_uri, values.target.target_uri)


def _other_method(values: SignedValues) -> Iterator[Alternative]:
    named = [values.fields.combined[name] for name in _OVERRIDES if name in values.fields.combined]
    for method in dict.fromkeys((*named, values.method.upper(), values.method.lower(), *METHODS)):
        yield Alternative(values._replace(method=method), method, values.method)


AUTHORITY_VARIANTS: Final = (
    Variant(
        "not canonical", "target",
        "the sender did not sign the canonical form of its URL: canonicalize the URL before signing", _not_canonical,
    ),
    Variant(
        "other scheme", "scheme",
        "a proxy ends TLS, or the sender signed another scheme: write the clients' scheme in origins= (here: --scheme)",
        _other_scheme,
    ),
    Variant(
        "other port", "authority",
        "a proxy forwards Host with another port or without it: forward it unchanged (nginx: proxy_set_header Host "
        "$http_host)", _other_port,
    ),
    Variant(
        "other host", "authority",
        "a proxy rewrote Host: forward it unchanged (nginx: proxy_set_header Host $http_host)", _other_host,
    ),
    Variant(
        "other method", "method", "a redirect or a method-override field changed the method: sign the one that is sent",
        _other_method,
    ),
)  # fmt: skip
"""The variants of scheme, authority, target and method, the most likely first."""

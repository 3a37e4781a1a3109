"""Proxies by the names that their answers show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.cli.doctor.intermediaries import FIELDS, Intermediary, intermediaries


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ([], []),
        ([("server", "uvicorn")], []),
        ([("server", "gunicorn")], []),
        ([("server", "nginx/1.22.1")], ["nginx"]),
        ([("server", "openresty/1.25")], ["OpenResty"]),
        ([("server", "Apache/2.4.57 (Debian)")], ["Apache httpd"]),
        ([("server", "istio-envoy"), ("x-envoy-upstream-service-time", "3")], ["Envoy"]),
        ([("server", "cloudflare"), ("cf-ray", "8f"), ("via", "1.1 varnish")], ["Cloudflare", "Varnish"]),
        ([("via", "1.1 6d.cloudfront.net (CloudFront)"), ("x-cache", "Miss from cloudfront")], ["Amazon CloudFront"]),
        ([("x-served-by", "cache-fra-1"), ("via", "1.1 varnish")], ["Fastly", "Varnish"]),
        ([("via", "1.1 Caddy")], ["Caddy"]),
        ([("via", "1.1 google")], ["Google Cloud load balancing"]),
        ([("via", "1.1 vegur")], ["Heroku"]),
        ([("via", "1.1 proxy7.example")], ["a proxy that is not known by name"]),
        ([("x-cache", "HIT")], ["a cache that is not known by name"]),
        (
            [("via", "2 a"), ("x-cache", "HIT")],
            ["a proxy that is not known by name", "a cache that is not known by name"],
        ),
    ],
)
def test_intermediary_is_named_by_what_it_shows(fields, names):
    assert [one.name for one in intermediaries(fields)] == names


def test_evidence_is_the_field_that_shows_it():
    assert list(intermediaries([("server", "nginx/1.22.1")])) == [Intermediary("nginx", "server: nginx/1.22.1")]


@given(st.lists(st.tuples(st.sampled_from(sorted(FIELDS)), st.text(max_size=300)), max_size=4))
def test_evidence_is_printable_and_short_for_any_answer(fields):
    for one in intermediaries(fields):
        assert one.evidence.isascii()
        assert one.evidence.isprintable()
        assert len(one.evidence) < 1200


def test_evidence_has_no_control_characters():
    [shown] = intermediaries([("server", "nginx\x1b[31m\x9b")])
    assert shown.evidence == r"server: nginx\x1b[31m\x9b"

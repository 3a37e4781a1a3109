from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from undersigned import canonicalize
from undersigned.cli.doctor.probes import MARK, Site

PATHS = st.lists(st.sampled_from(["a", "api", "a%2Fb", "v1", "", "caf%C3%A9"]), max_size=4).map("/".join)
URLS = st.builds(
    "{}://{}{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["seller.example.com", "127.0.0.1", "[::1]"]),
    st.sampled_from(["", ":8080", ":443", ":80"]),
    PATHS,
)


@given(url=URLS)
def test_mistaken_site_has_the_same_host_and_at_least_one_mistake(url):
    site = Site.of(canonicalize(url))
    mistaken = site.mistaken()
    assert site not in mistaken
    assert len(set(mistaken)) == len(mistaken)
    for taken in mistaken:
        assert taken.host == site.host
        assert f"{MARK}/plain" in taken.url("/plain")
        assert site.mistakes(taken)


@given(url=URLS)
def test_site_has_no_mistakes_compared_with_itself(url):
    site = Site.of(canonicalize(url))
    assert site.mistakes(site) == []
    assert canonicalize(site.url("/plain")).target_uri == site.url("/plain")


def test_mistaken_sites_are_sorted_by_number_of_mistakes():
    site = Site.of(canonicalize("https://seller.example.com:8443/api/v1"))
    counts = [len(site.mistakes(taken)) for taken in site.mistaken()]
    assert counts == sorted(counts)
    assert len(counts) == 19


def test_str_of_a_site_is_an_origin():
    assert str(Site.of(canonicalize("HTTPS://Seller.example.com:443/api/"))) == "https://seller.example.com/api"

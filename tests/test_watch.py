"""What the workflow `watch` reports, with recorded answers."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path

import pytest

from undersigned import profiles
from undersigned.signature.algorithms import ALGORITHMS

WATCH = runpy.run_path(str(Path(__file__).parents[1] / ".ci" / "watch.py"))
USED = {profile.source.url: profile.source.edition for profile in [*profiles.BY_NAME.values()][::-1]}
USED |= {source.url: source.edition for source in WATCH["OTHERS"]}


def publisher(now):
    """Answer as the publishers do; `now` is the newest edition by a part of a URL, and everything else is as used."""

    def read(url):
        asked = url.removesuffix("/?format=json").removesuffix(".json").replace("https://api.github.com/repos/", "")
        known = next(iter({found for found in USED if is_about(url, found)}))
        edition = next((edition for part, edition in now.items() if part in asked), USED[known])
        if "datatracker" in url:
            return json.dumps({"rev": edition, "name": "draft"})
        if "rfc-editor" in url:
            return json.dumps({"obsoleted_by": [edition] if edition else [], "updated_by": []})
        if "/releases/" in url:
            return json.dumps({"tag_name": edition})
        return json.dumps([{"commit": {"committer": {"date": f"{edition}T08:00:00Z"}}}])

    return read


def is_about(url, source):
    """Whether a URL that is looked up is that of a source: both have the same names in their paths."""
    names = set(source.split("/")[3:]) - {"", "blob", "HEAD", "doc", "rfc"}
    return all(name in url for name in names)


def test_nothing_is_reported_if_all_editions_are_those_of_the_profiles():
    assert list(WATCH["documents"](publisher({}))) == []


@pytest.mark.parametrize(
    ("part", "newer", "reported"),
    [
        ("draft-ietf-wimse-http-signature", "99", "draft-ietf-wimse-http-signature: {} is used, 99 is published"),
        ("rfc9635", "RFC 9999", "RFC 9635: {} is used, RFC 9999 is published"),
        ("adcontextprotocol/adcp", "v9", "AdCP: v3.1, {} is used, v9 is published"),
        ("openid/fapi", "2099-01-01", "FAPI 2.0 HTTP Signatures: {} is used, 2099-01-01 is published"),
        ("modelcontextprotocol", "2099-01-01", "MCP: {} is used, 2099-01-01 is published"),
    ],
)
def test_newer_edition_of_a_source_is_reported_once(part, newer, reported):
    (used,) = {edition for url, edition in USED.items() if part in url}
    assert list(WATCH["documents"](publisher({part: newer}))) == [f"- {reported.format(used or 'the first edition')}"]


def test_source_that_cannot_be_looked_up_is_reported():
    def fail(*asked):
        raise OSError(asked)

    assert len(list(WATCH["documents"](fail))) == len(USED)
    assert "cannot be looked up" in next(WATCH["algorithms"](fail))
    assert all("cannot be looked up" in line for line in WATCH["peers"](fail))


def test_every_published_profile_names_a_source_that_can_be_looked_up():
    for profile in (*profiles.BY_NAME.values(), profiles.UCP_MCP):
        assert profile.source.document
        assert WATCH["newest"](profile.source, publisher({})) in USED.values()


def registry(*names):
    records = "".join(f"<record><name>{name}</name><status>Active</status></record>" for name in names)
    shape = '<registry xmlns="http://www.iana.org/assignments"><registry id="{}">{}</registry></registry>'
    return lambda _url: shape.format("signature-algorithms", records)


def test_algorithm_that_is_registered_and_not_supported_is_reported():
    assert list(WATCH["algorithms"](registry(*ALGORITHMS))) == []
    assert list(WATCH["algorithms"](registry(*ALGORITHMS, "ml-dsa-65"))) == ["- ml-dsa-65 is a registered algorithm"]
    assert "lists no algorithm" in next(WATCH["algorithms"](registry()))


def test_peer_with_a_newer_release_is_reported():
    def run(*command):
        if command[0] == "npm":
            return f"{json.loads((WATCH['INTEROP'] / 'package.json').read_text())['dependencies'][command[2]]}\n"
        if command[-1] == "adcp":
            raise subprocess.CalledProcessError(1, command)
        return f"{command[-1]} (99.0)\nAvailable versions: 99.0, 3.0.0\n"

    pypi = (WATCH["INTEROP"] / "pypi.txt").read_text().split()
    first, *others = WATCH["peers"](run)
    assert first.startswith("- adcp cannot be looked up")
    assert others == [f"- {line.replace('==', ': ')} is used, 99.0 is published" for line in pypi[1:]]

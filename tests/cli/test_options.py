"""The option for the profile: one for every command, and a profile of one's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.command import invoke, usage_error


@pytest.mark.parametrize("command", ["sign", "verify", "request", "explain", "doctor"])
def test_every_command_has_the_same_profiles(command):
    said = usage_error(command, "--profile", "draft-cavage-12")
    assert "'draft-cavage-12' is no published profile: Give one of default, adcp-3.2" in said
    assert "did you mean adcp-3.2? Give" in usage_error(command, "--profile", "adcp-32")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("own_profiles:OWN", "Missing "),
        ("own_profiles:OTHER", "the module own_profiles has no OTHER"),
        ("own_profiles:OWNN", "the module own_profiles has no OWNN: did you mean OWN?"),
        ("own_profiles:NUMBER", "own_profiles:NUMBER is not a Profile for requests"),
        ("own_profiles:RESPONSE", "own_profiles:RESPONSE is not a Profile for requests"),
        ("own_profilez:OWN", "no module own_profilez: did you mean own_profiles?"),
        ("broken_profiles:OWN", "broken_profiles cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_profile_of_ones_own_is_named_by_its_import_path(name, fault, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_profiles", raising=False)
    Path("own_profiles.py").write_text(
        "from undersigned import profiles\nOWN = profiles.DEFAULT.derive(name='own')\nNUMBER = 1\n"
        "RESPONSE = profiles.UCP_RESPONSE\n"
    )
    Path("broken_profiles.py").write_text("1 / 0\n")
    for command in ("sign", "verify", "request", "explain", "doctor"):
        assert fault in usage_error(command, "--profile", name)


def test_request_is_signed_verified_and_explained_with_a_profile_of_ones_own(keys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("internal_profile.py").write_text(
        "from undersigned import profiles\nfrom undersigned.signature.rules.selection import Selection\n"
        "PROFILE = profiles.DEFAULT.derive(name='internal', selection=Selection(tags=('internal',)))\n"
    )
    by = ("--profile", "internal_profile:PROFILE")
    signed = invoke("sign", "--key", keys.private, *by, "https://seller.example.com/a")
    Path("request.txt").write_text(f"GET /a HTTP/1.1\nHost: seller.example.com\n{signed.stdout}\n")
    explained = invoke("explain", "request.txt", "--jwks", keys.public, *by)
    assert (explained.exit_code, explained.stdout.splitlines()[1]) == (0, "Profile: internal")
    monkeypatch.delenv("UNDERSIGNED_PROFILE")
    guessed = invoke("explain", "request.txt", "--jwks", keys.public)
    assert (guessed.exit_code, guessed.stdout.splitlines()[1]) == (1, "Profile: (none)")
    assert guessed.stdout.startswith("Not verified: no published profile has the tag internal")

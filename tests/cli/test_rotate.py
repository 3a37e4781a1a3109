from __future__ import annotations

import itertools
import json
import os
import resource
import stat
import subprocess
import sys
from unittest import mock

import pytest
from tests.cli.command import invoke
from tests.keys import PRIVATE

from undersigned import KeyPair, KeySet, SigningKey

NOW = 1_776_520_800
RSA = {"kty": "RSA", "kid": "tokens", "use": "sig", "n": "AQAB", "e": "AQAB"}


@pytest.fixture
def folder(tmp_path):
    """A folder as `undersigned keygen` leaves it."""
    assert invoke("keygen", "--kid", "old", "--out", str(tmp_path)).exit_code == 0
    return tmp_path


def run(folder, *options: str, now: int = NOW):
    with mock.patch("undersigned.cli.rotate.time.time", return_value=now):
        return invoke("rotate", "--jwks", str(folder / "public.jwks.json"), *options)


def read_published(folder) -> dict[str, dict]:
    jwks = json.loads((folder / "public.jwks.json").read_text())
    return {key["kid"]: key for key in jwks["keys"]}


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_rotation_adds_a_key_keeps_the_old_one_for_its_overlap_and_drops_it(folder):
    begun = run(folder, "--kid", "new", "--alg", "ecdsa-p256-sha256")
    assert (begun.exit_code, begun.stderr) == (0, "")
    keys = read_published(folder)
    assert list(keys) == ["old", "new"]
    assert (keys["old"]["exp"], "exp" in keys["new"]) == (NOW + 3600, False)
    private = SigningKey.from_jwk(json.loads((folder / "private.next.jwk.json").read_text()))
    assert KeySet.from_jwks({"keys": [keys["new"]]}).keys["new"][0].verifies(private.sign(b"base"), b"base")
    early = run(folder, "--finish", now=NOW + 3599)
    assert (early.exit_code, list(read_published(folder))) == (0, ["old", "new"])
    assert "kept until 2026-04-18 15:00:00 UTC: old" in early.stdout
    late = run(folder, "--finish", now=NOW + 3600)
    assert (late.exit_code, list(read_published(folder))) == (0, ["new"])
    assert "dropped, as its overlap is over: old" in late.stdout
    assert names(folder) == {"private.jwk.json", "private.next.jwk.json", "public.jwks.json"}


def test_output_says_what_to_do_next_and_when(folder):
    output = run(folder, "--kid", "new").stdout
    private, public = folder / "private.next.jwk.json", folder / "public.jwks.json"
    assert output.splitlines() == [
        "kid of the new key: new",
        f"private JWK for signing, mode 0600: {private}",
        f"public JWK set to publish: {public}",
        f"next: 1. Publish {public} at once.",
        f"      2. From 2026-04-18 14:15:00 UTC on, sign with {private}: by then receivers know the key.",
        "         The kid changes: receivers must know you by signature.signer, not by the keyid.",
        "      3. Before 2026-04-18 14:54:00 UTC, stop signing with old.",
        f"      4. From 2026-04-18 15:00:00 UTC on, drop it: undersigned rotate --finish --jwks {public}",
    ]
    assert json.loads(private.read_text())["d"] not in output


def test_next_rotation_drops_what_has_ended_and_keeps_what_has_not(folder):
    assert run(folder, "--kid", "a").exit_code == 0
    (folder / "private.next.jwk.json").rename(folder / "private.jwk.json")
    assert run(folder, "--kid", "b", now=NOW + 1800).exit_code == 0
    ends = {keyid: key.get("exp") for keyid, key in read_published(folder).items()}
    assert ends == {"old": NOW + 3600, "a": NOW + 5400, "b": None}
    (folder / "private.next.jwk.json").rename(folder / "private.jwk.json")
    last = run(folder, "--kid", "c", now=NOW + 5000)
    assert "dropped, as its overlap is over: old" in last.stdout
    assert [line.split()[0] for line in last.stdout.splitlines()[-4:]] == ["3.", "4.", "5.", "6."]
    assert list(read_published(folder)) == ["a", "b", "c"]


def test_keys_for_other_uses_and_other_members_stay(folder):
    path = folder / "public.jwks.json"
    path.write_text(json.dumps({"keys": [RSA | {"exp": 5}, read_published(folder)["old"]], "owner": "us"}))
    assert run(folder, "--kid", "new").exit_code == 0
    assert run(folder, "--finish", now=NOW + 3600).exit_code == 0
    assert json.loads(path.read_text())["owner"] == "us"
    assert read_published(folder)["tokens"] == RSA | {"exp": 5}
    assert list(read_published(folder)) == ["tokens", "new"]


def test_last_key_is_not_dropped(folder):
    path = folder / "public.jwks.json"
    path.write_text(json.dumps({"keys": [RSA, read_published(folder)["old"] | {"exp": NOW - 1}]}))
    before = path.read_text()
    result = run(folder, "--finish")
    assert result.exit_code == 2
    assert "no key for request signing would be left" in result.stderr
    assert path.read_text() == before
    assert run(folder, "--kid", "new").exit_code == 0
    assert list(read_published(folder)) == ["tokens", "new"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_private_key_is_its_owners_and_the_set_keeps_its_mode_and_its_link(folder):
    (folder / "public.jwks.json").chmod(0o664)
    (folder / "linked.json").symlink_to(folder / "public.jwks.json")
    result = invoke("rotate", "--jwks", str(folder / "linked.json"))
    assert result.exit_code == 0
    assert stat.S_IMODE((folder / "private.next.jwk.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "public.jwks.json").stat().st_mode) == 0o664
    assert (folder / "linked.json").is_symlink()
    assert len(read_published(folder)) == 2


def test_private_key_stays_beside_the_other_one_wherever_the_link_of_the_set_leads(folder, tmp_path):
    (site := tmp_path / "www").mkdir()
    (folder / "public.jwks.json").rename(site / "jwks.json")
    (folder / "public.jwks.json").symlink_to(site / "jwks.json")
    assert run(folder).exit_code == 0
    assert (names(site), len(read_published(folder))) == ({"jwks.json"}, 2)
    (site / "private.jwk.json").mkdir()
    assert "beside your private key" in invoke("rotate", "--jwks", str(site / "jwks.json")).stderr
    (site / "private.jwk.json").rmdir()
    (tmp_path / "link").symlink_to(site)
    refused = invoke("rotate", "--jwks", str(tmp_path / "link" / "jwks.json"))
    assert (refused.exit_code, "beside your private key" in refused.stderr) == (2, True)
    assert names(site) == {"jwks.json"}


def test_planted_link_is_not_followed(folder):
    victim = folder / "victim"
    victim.write_text("mine")
    for planted in ("public.jwks.json.new", "private.next.jwk.json.new"):
        (folder / planted).symlink_to(victim)
    assert run(folder, "--kid", "new").exit_code == 0
    assert (victim.read_text(), list(read_published(folder))) == ("mine", ["old", "new"])
    (folder / "private.next.jwk.json").unlink()
    there = folder / "private.next.jwk.json"
    for plant in (there.symlink_to, there.hardlink_to, lambda _: there.mkdir(), lambda _: os.mkfifo(there)):
        plant(folder / "private.jwk.json")
        assert f"{there} is in the way" in run(folder, "--kid", "other").stderr
        there.rmdir() if there.is_dir() else there.unlink()
    there.symlink_to(folder / "nowhere")
    assert run(folder, "--kid", "other").exit_code == 2
    assert list(read_published(folder)) == ["old", "new"]


KILLED = """
import os, sys
left = int(sys.argv.pop(1))

def kill(event, arguments):
    global left
    if event in ("os.link", "os.rename", "os.remove", "os.chmod") or (event == "open" and arguments[2] & os.O_CREAT):
        left -= 1
        if left == 0:
            os._exit(137)

from undersigned.cli import undersigned
sys.addaudithook(kill)
undersigned()
"""


def test_rotation_that_was_killed_at_any_write_goes_on_or_says_where_it_stands(tmp_path):
    states = []
    for writes in itertools.count(1):
        folder = tmp_path / str(writes)
        assert invoke("keygen", "--kid", "old", "--out", str(folder)).exit_code == 0
        command = [sys.executable, "-c", KILLED, str(writes), "rotate", "--jwks", str(folder / "public.jwks.json")]
        killed = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own command
        published = set(read_published(folder))
        again = run(folder)
        assert again.exit_code in {0, 2}
        private = json.loads((folder / "private.next.jwk.json").read_text())
        states.append((private["kid"] in published, again.exit_code, "this run publishes it" in again.stdout))
        assert set(read_published(folder)) == {"old", private["kid"]}
        assert (again.exit_code == 0) or f"its kid {private['kid']} is in the set" in again.stderr
        assert not [name for name in names(folder) if name.endswith(".new")]
        if killed.returncode == 0:
            break
        assert killed.returncode == 137, killed.stderr
    # At first, a run begins anew; then it goes on; at last, there is nothing more to do.
    assert list(dict.fromkeys(states)) == [(False, 0, False), (False, 0, True), (True, 2, False)]


def test_rotation_that_goes_on_takes_no_other_key(folder):
    pair = KeyPair.generate(keyid="left")
    (folder / "private.next.jwk.json").write_text(json.dumps(pair.private))
    refused = run(folder, "--kid", "new")
    assert (refused.exit_code, "did not publish" in refused.stderr, list(read_published(folder))) == (2, True, ["old"])
    assert run(folder).exit_code == 0
    assert read_published(folder)["left"] == pair.public["keys"][0]


def test_key_of_the_last_rotation_is_kept_and_the_set_is_as_it_was(folder):
    there = "private.next.jwk.json"
    (folder / there).write_text("mine")
    before = (folder / "public.jwks.json").read_text()
    result = run(folder, "--kid", "new")
    assert result.exit_code == 2
    assert f"{folder / there} is in the way, and is not a private JWK: move it" in result.stderr
    assert (folder / there).read_text() == "mine"
    assert (folder / "public.jwks.json").read_text() == before
    assert names(folder) == {"private.jwk.json", "public.jwks.json", there}


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
@pytest.mark.parametrize(("room", "wanting"), [(100, "private.next.jwk.json.new"), (400, "public.jwks.json.new")])
def test_rotation_that_cannot_write_names_the_file_and_says_where_it_stands(folder, room, wanting):
    before = (folder / "public.jwks.json").read_text()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        done = run(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.exit_code == 2
    assert f"{folder / wanting}: File too large. The set is as it was." in done.stderr
    assert (folder / "public.jwks.json").read_text() == before
    private = {"private.next.jwk.json"} if room == 400 else set()
    assert names(folder) == {"private.jwk.json", "public.jwks.json", *private}
    again = run(folder)
    assert (again.exit_code, "this run publishes it" in again.stdout) == (0, bool(private))


MISTAKES = {
    "a private key": (lambda _: {"keys": [PRIVATE]}, "'d' is private"),
    "no set": (lambda _: [], '"keys" array'),
    "an end that is not a time": (lambda old: {"keys": [old | {"exp": "soon"}]}, "exp must be whole seconds"),
}


@pytest.mark.parametrize(("jwks", "told"), MISTAKES.values(), ids=MISTAKES)
def test_set_that_cannot_be_rotated_is_rejected_and_left_as_it_is(folder, jwks, told):
    path = folder / "public.jwks.json"
    path.write_text(json.dumps(jwks(read_published(folder)["old"])))
    before = path.read_text()
    result = run(folder)
    assert (result.exit_code, told in result.stderr, path.read_text()) == (2, True, before)
    assert PRIVATE["d"] not in result.stderr
    assert names(folder) == {"private.jwk.json", "public.jwks.json"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--kid", "old"), "share a kid"),
        (("--kid", "\u00fc"), "--kid"),
        (("--overlap", "1259"), "--overlap"),
        (("--alg", "rsa"), "--alg"),
        *(
            (("--finish", *option), "--finish makes no key: leave out --alg, --kid and --overlap")
            for option in (("--kid", "x"), ("--alg", "rsa-pss-sha512"), ("--overlap", "3600"))
        ),
    ],
)
def test_option_that_cannot_be_used_is_named(folder, options, told):
    result = run(folder, *options)
    assert (result.exit_code, told in result.stderr) == (2, True)
    assert names(folder) == {"private.jwk.json", "public.jwks.json"}


def test_overlap_lasts_until_receivers_know_the_new_key_and_the_last_signature_has_expired(folder):
    assert run(folder, "--overlap", str(900 + 300 + 60)).exit_code == 0
    assert read_published(folder)["old"]["exp"] == NOW + 900 + 300 + 60


def test_first_key_of_a_set_for_other_uses_replaces_none(tmp_path):
    (tmp_path / "public.jwks.json").write_text(
        json.dumps({"keys": [KeyPair.generate().public["keys"][0] | {"use": ""}]})
    )
    result = run(tmp_path, "--kid", "new")
    assert result.exit_code == 0
    assert "3." not in result.stdout

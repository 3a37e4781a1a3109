"""`undersigned rotate`: add a key to a public JWK set, keep the old one for its overlap, then drop it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import click

from undersigned import profiles
from undersigned.cli.files import PRIVATE_MODE, json_text, write_file
from undersigned.cli.keygen import PRIVATE, algorithm_option, key_pair
from undersigned.errors import ConfigurationError
from undersigned.message.strict_json import loads
from undersigned.message.timestamps import moment
from undersigned.publishing.public_jwks import public_jwks_text, read_jwks
from undersigned.signature.jwk import PRIVATE_MEMBERS
from undersigned.signature.signing_key import SigningKey
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.signature.key_pair import Algorithm, KeyPair

_JWK: TypeAlias = Mapping[str, object]

_NEXT: Final = "private.next.jwk.json"

_SPREAD: Final = 900
"""Seconds until every receiver has fetched a new set: a quarter of an hour at most, as `RemoteJWKS` does."""

_LAST_SIGNATURE: Final = 360
"""Seconds that a signature may be accepted after it was made: its validity and the clock skew (AdCP)."""

_LEAST_OVERLAP: Final = _SPREAD + _LAST_SIGNATURE
"""Seconds that an old key is published at least after the new one: it signs until all receivers know the new one."""


@click.command()
@click.option(
    "--jwks",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The public JWK set; it is rewritten.",
)
@algorithm_option
@click.option("--kid", "keyid", metavar="ID", help="The new key's kid.  [default: the RFC 7638 thumbprint]")
@click.option(
    "--overlap",
    type=click.IntRange(_LEAST_OVERLAP, 31_536_000),
    metavar="SECONDS",
    help="How long the old key stays in the set.  [default: 3600]",
)
@click.option("--finish", is_flag=True, help="Add no key; drop those whose overlap is over.")
def rotate(*, path: Path, algorithm: Algorithm | None, keyid: str | None, overlap: int | None, finish: bool) -> None:
    """Change the key for request signing, step by step.

    The first run makes a key pair. It writes the private JWK to private.next.jwk.json beside private.jwk.json (mode
    0600) and adds the public JWK to the set. The old key stays in the set for its overlap. The run with --finish drops
    the old key. Each run says what to do next. A run that was killed is continued by the next one. The file of the set
    is replaced as a whole, so a server never reads a part of it. Keys for other uses stay as they are.

    \b
    Examples:
      undersigned rotate --jwks keys/public.jwks.json
      undersigned rotate --jwks keys/public.jwks.json --finish
    """  # noqa: D301 - click needs the escape to keep the line breaks
    if finish and (algorithm or keyid or overlap):
        raise click.UsageError("--finish makes no key: leave out --alg, --kid and --overlap")
    # If the path is a symbolic link, replace the file that it leads to, not the link. That file may lie where a server
    # publishes it, so the private key never goes there.
    beside, path, now = path, path.resolve(), int(time.time())
    try:
        jwks = read_jwks(path.read_bytes())
        kept, dropped = _drop_ended(jwks, now)
        told = [f"dropped, as its overlap is over: {kid}" for kid in dropped]
        private = _private_path(beside, is_first=not any(map(_signs, kept)))
        if finish:
            text, ends = _with_keys(jwks, kept)
            if dropped:
                write_file(path, stat.S_IMODE(path.stat().st_mode), text)
            lines = [*told, *(f"kept until {moment(end)}: {keyid}" for keyid, end in ends.items())]
            published = f"next: publish {click.format_filename(path)}, and delete the private keys of what was dropped."
            lines.append(published if dropped else "nothing is dropped: no overlap is over")
        else:
            unfinished = _unfinished(private, kept)
            if unfinished and (algorithm or keyid):
                raise click.UsageError(
                    f"{_unpublished(private)}: run without --alg and --kid to publish it, or move it"
                )
            pair = None if unfinished else key_pair(algorithm, keyid, None)
            new = unfinished or cast("list[_JWK]", cast("KeyPair", pair).public["keys"])[0]
            end = now + (overlap or 3600)
            retiring = [{**jwk, "exp": end} if _signs(jwk) and _end(jwk) is None else jwk for jwk in kept]
            text, ends = _with_keys(jwks, [*retiring, new])
            # The private key comes first, so that the set never has a public key without a private key.
            if pair is not None:
                write_file(private, PRIVATE_MODE, json_text(pair.private), is_new=True)
            write_file(path, stat.S_IMODE(path.stat().st_mode), text)
            lines = [f"{_unpublished(private)}: this run publishes it"] if pair is None else []
            lines += [f"kid of the new key: {new['kid']}", *_begun(ends, told, path, private, now)]
    except ConfigurationError as wrong:
        raise click.UsageError(f"{click.format_filename(path)}: {wrong}") from None
    except OSError as failure:
        name = click.format_filename(failure.filename or path)
        raise click.UsageError(
            f"{name}: {failure.strerror}. The set is as it was. Once this is mended, run again: the rotation goes on"
        ) from None
    click.echo("\n".join(lines))


def _with_keys(jwks: _JWK, keys: Sequence[_JWK]) -> tuple[bytes, Mapping[str, int]]:
    """Return the text of the set with other keys, and when each old key is to be dropped, by its `kid`."""
    if not any(map(_signs, keys)):
        raise ConfigurationError("no key for request signing would be left; add one first, without --finish")
    ends = {cast("str", jwk["kid"]): end for jwk in keys if _signs(jwk) and (end := _end(jwk)) is not None}
    return public_jwks_text({**jwks, "keys": list(keys)}), ends


def _drop_ended(jwks: _JWK, now: int) -> tuple[list[_JWK], tuple[str, ...]]:
    """Return the keys whose overlap is not over, and the `kid` of each other one. Keys for other uses stay."""
    public_jwks_text(jwks)
    keys = cast("list[_JWK]", jwks["keys"])
    ended = [jwk for jwk in keys if _signs(jwk) and (end := _end(jwk)) is not None and end <= now]
    return [jwk for jwk in keys if jwk not in ended], tuple(cast("str", jwk["kid"]) for jwk in ended)


def _signs(jwk: _JWK) -> bool:
    """Return whether a key is for request signing."""
    key = VerificationKey.from_jwk(jwk)
    return not key.misuse(key.algorithm, profiles.ADCP_3_2.key)


def _end(jwk: _JWK) -> int | None:
    """Return the member `exp`, the time in seconds since the epoch at which an old key is to be dropped, or None."""
    end = jwk.get("exp")
    if end is not None and type(end) is not int:
        raise ConfigurationError("keys: exp must be whole seconds since the epoch, or absent")
    return end


def _private_path(public: Path, *, is_first: bool) -> Path:
    """Return where the new private key goes: beside the old one, and beside the set as the option names it.

    Raises:
        click.UsageError: the old private key is not there. The first one needs none, but goes through no link.
    """
    old = public.with_name(PRIVATE)
    is_linked = public.resolve() != Path(os.path.abspath(public))  # noqa: PTH100 - resolves no link
    if not old.is_file() and (is_linked or not is_first):
        raise click.UsageError(
            f"{click.format_filename(old)} does not exist, so the set may lie where it is served. Name the set, or a "
            "link to it, beside your private key: the new one is written there"
        )
    return public.with_name(_NEXT)


def _unfinished(private: Path, published: Sequence[_JWK]) -> _JWK | None:
    """Return the public JWK of the private key that a killed run left, or None if there is no such file.

    Raises:
        click.UsageError: the file is something else, or its key is in the set already.
        OSError: it cannot be read.
    """
    # A run that was killed may have left a part of it.
    private.with_name(f"{private.name}.new").unlink(missing_ok=True)
    if not os.path.lexists(private):
        return None
    name, there = click.format_filename(private), private.lstat()
    # Another user may have put a hard or symbolic link there, which leads to another file, or a pipe, which never ends.
    is_ours = stat.S_ISREG(there.st_mode) and there.st_nlink == 1
    try:
        jwk = loads(private.read_bytes()) if is_ours else None
        keyid = SigningKey.from_jwk(cast("_JWK", jwk)).keyid
    except (ValueError, ConfigurationError):
        raise click.UsageError(f"{name} is in the way, and is not a private JWK: move it") from None
    public = {name: value for name, value in cast("_JWK", jwk).items() if name not in PRIVATE_MEMBERS}
    public["key_ops"] = ["verify"]
    if keyid in {known["kid"] for known in published}:
        raise click.UsageError(
            f"{name} is the key of the last rotation, and its kid {keyid} is in the set: sign with it, and move it to "
            f"{PRIVATE}; then rotate again"
        )
    return public


def _unpublished(private: Path) -> str:
    return f"{click.format_filename(private)} has a key that the last run did not publish"


def _begun(ends: Mapping[str, int], told: Sequence[str], public: Path, private: Path, now: int) -> list[str]:
    published, signing = click.format_filename(public), click.format_filename(private)
    lines = [
        f"private JWK for signing, mode 0600: {signing}",
        f"public JWK set to publish: {published}",
        *told,
        f"next: 1. Publish {published} at once.",
        f"      2. From {moment(now + _SPREAD)} on, sign with {signing}: by then receivers know the key.",
        "         The kid changes: receivers must know you by signature.signer, not by the keyid.",
    ]
    for step, (old, end) in zip(count(4, 2), ends.items(), strict=False):
        lines.append(f"      {step - 1}. Before {moment(end - _LAST_SIGNATURE)}, stop signing with {old}.")
        lines.append(f"      {step}. From {moment(end)} on, drop it: undersigned rotate --finish --jwks {published}")
    return lines

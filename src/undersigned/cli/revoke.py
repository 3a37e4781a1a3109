"""`undersigned revoke`: put keys on a revocation list or take them off, and check that a service refuses them."""

from __future__ import annotations

import datetime as dt
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from undersigned.cli.files import json_text, write_file
from undersigned.cli.http import ca_file_option, exchange, timeout_option
from undersigned.cli.options import profile_option
from undersigned.cli.verdict import read_verdict
from undersigned.errors import ConfigurationError
from undersigned.log_text import printable
from undersigned.message.strict_json import loads
from undersigned.message.timestamps import read_time
from undersigned.signature.key_pair import Algorithm, KeyPair
from undersigned.verification.revocation_list import CLOCK_SKEW, RevocationList

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from undersigned.signature.profile import Profile

_INTERVAL: Final = 900
"""Seconds until the list must be written again."""

_TRIES: Final = 4
_ALGORITHMS: Final[tuple[Algorithm, ...]] = ("ed25519", "ecdsa-p256-sha256")


@click.command()
@click.option(
    "--list",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The revocation list; it is written if it does not exist.",
)
@click.option("--restore", is_flag=True, help="Take the keys off the list, to accept them again.")
@click.option("--issuer", metavar="URL", help="Who makes the list.  [default: as in the file, or none]")
@click.option("--check", "url", metavar="URL", help="A URL of a service that must refuse the keys.")
@profile_option
@timeout_option
@ca_file_option
@click.argument("kids", metavar="[KID]...", nargs=-1)
def revoke(
    *, path: Path, restore: bool, issuer: str | None, url: str | None, profile: Profile, timeout: int,
    tls: ssl.SSLContext, kids: tuple[str, ...],
) -> None:  # fmt: skip
    """Put keys on a revocation list or take them off, and check that a service refuses them.

    KID is a key ID or a thumbprint. Without one, the list is only made current again: run that every ten minutes, with
    cron. With --check, requests that name each key are sent to a service. They need no private key: a revoked key
    is refused before its signature is checked. The exit code is 1 if a key is not refused.

    \b
    Examples:
      undersigned revoke buyer-2025 --list keys/revoked.json --check https://shop.example.com/
      undersigned revoke buyer-2025 --list keys/revoked.json --restore
      undersigned revoke --list keys/revoked.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    if restore and not kids:
        raise click.UsageError("--restore: name the keys that the list should no longer have")
    if url is not None and (restore or not kids):
        raise click.UsageError("--check: name the keys that the service must refuse, without --restore")
    try:
        old: object = loads(path.read_bytes()) if path.exists() else {"revoked_kids": []}
        document = cast("Mapping[str, object]", old if isinstance(old, dict) else {})
        listed = document.get("revoked_kids")
        kept = cast("list[object]", listed) if isinstance(listed, list) else [None]
        if restore and (unknown := [kid for kid in kids if kid not in kept]):
            raise click.UsageError(f"--restore: {printable(unknown[0])} is not on the list")
        # Only a list with a later time takes a revocation back, even if two are written in one second. No verifier
        # uses a list dated in the future.
        wall, before = time.time(), read_time(document.get("updated"))
        now = int(before + 1 if wall <= before + 1 < wall + CLOCK_SKEW else wall)
        made = {"issuer": "", **document, **({} if issuer is None else {"issuer": issuer})}
        made |= {
            "updated": _time(now),
            "next_update": _time(now + _INTERVAL),
            "revoked_kids": [kid for kid in dict.fromkeys([*kept, *kids]) if not (restore and kid in kids)],
        }
        stale_after = _time(int(RevocationList.from_json(json_text(made)).stale_after))
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        write_file(path, mode, json_text(made))
    except (ConfigurationError, ValueError, TypeError) as wrong:
        name = click.format_filename(path)
        raise click.UsageError(f"{name} is not a revocation list: {printable(str(wrong))}") from None
    except FileNotFoundError:
        folder = click.format_filename(path.parent)
        raise click.UsageError(f"--list: there is no folder {folder}: make it, or correct the path") from None
    except OSError as failure:
        raise click.UsageError(f"{click.format_filename(path)}: {failure.strerror}") from None
    for kid in kids:
        click.echo(f"{'restored' if restore else 'revoked'}: {printable(kid)}")
    if kids:
        does, end = "accepts" if restore else "refuses", document.get("next_update")
        # Until then, every verifier that has the old list fetches the next one.
        fetched = f"by {printable(end)}" if isinstance(end, str) else "at its start"
        click.echo(f"RevocationFile on this file {does} them within a second.")
        click.echo(f"RemoteRevocationList {does} them after its next fetch: {fetched}. Sign and publish it now.")
        if url is None and not restore:
            click.echo("Not checked: with --check URL, a service shows that it knows these key IDs, and refuses them.")
    click.echo(
        f"Write the list again before {made['next_update']}: undersigned revoke --list {click.format_filename(path)}\n"
        f"Otherwise signed requests get 503 from {stale_after} on (signature_revocation_stale)."
    )
    accepted = [] if url is None else [kid for kid in kids if not _is_refused(kid, url, profile, timeout, tls)]
    click.get_current_context().exit(int(bool(accepted)))


def _is_refused(kid: str, url: str, profile: Profile, timeout: int, tls: ssl.SSLContext) -> bool:
    """Return whether a service refuses a key, and say so. A service that reads a file may need a second."""
    seen = ""
    # The key that signs has another thumbprint than the key ID that is revoked.
    by = profile.derive(key=profile.key._replace(is_thumbprint=False))
    for attempt in range(_TRIES):
        time.sleep(min(attempt, 1))
        for algorithm in _ALGORITHMS:
            key = KeyPair.generate(algorithm, keyid=kid).signing_key()
            with exchange(key, by, "GET", url, (), b"", timeout=timeout, tls=tls) as (_, response):
                seen = read_verdict(response, response.read()).code
            if seen == "signature_key_revoked":
                click.echo(f"checked: {printable(url)} refuses {printable(kid)}")
                return True
    if seen == "signature_key_unknown":
        click.echo(f"NOT checked: {printable(url)} does not know the key ID {printable(kid)}: is it right?", err=True)
    else:
        click.echo(f"NOT refused: {printable(url)} answers {seen or 'without a code of a signature'}", err=True)
    return False


def _time(seconds: int) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

"""`undersigned inspect`: serve the page on this machine."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from undersigned.errors import needs_extra

with needs_extra("cli"):
    import click

from undersigned.cli.options import read_profile

from .live_decisions import LAST_PORT
from .page import paste
from .server import PageServer

if TYPE_CHECKING:
    from undersigned import Profile


def _read_profiles(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, Profile | None]:
    return {text: read_profile(ctx, param, text) for text in texts}


@click.command()
@click.option("--port", type=click.IntRange(0, LAST_PORT), default=0, help="The port.  [default: any free one]")
@click.option(
    "--profile",
    "own",
    multiple=True,
    metavar="MODULE:NAME",
    callback=_read_profiles,
    help="A profile of your own to choose from, by its import path, such as main:PROFILE. May be repeated.",
)
def inspect(*, port: int, own: dict[str, Profile]) -> None:
    """Serve a page on 127.0.0.1 that shows why a signed request is rejected.

    Paste a request as HTTP, curl -v, a curl command or JSON, and the keys. The page shows the cause, the step that
    fails, both signature bases and the canonicalization. What is pasted stays in this process and is neither stored nor
    logged. Anyone on this machine who has the URL can use the page until you press Ctrl+C.
    """
    try:
        server = PageServer(partial(paste, own=own), port=port)
    except OSError as failure:
        raise click.ClickException(f"--port: 127.0.0.1:{port} cannot be used: {failure.strerror}") from None
    click.echo(f"Open {server.url}")
    click.echo("Press Ctrl+C to end.")
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()

"""`undersigned inspect`: serve the page on this machine."""

from __future__ import annotations

import webbrowser
from contextlib import suppress

import click

from undersigned.cli.group import MissingExtra

from .live import LAST_PORT


@click.command(short_help="Serve a page that shows why a request is rejected.")
@click.option("--port", type=click.IntRange(0, LAST_PORT), default=0, help="The port.  [default: any free one]")
@click.option("--open", "is_opened", is_flag=True, help="Open the page in the browser.")
def inspect(*, port: int, is_opened: bool) -> None:
    """Serve a page on 127.0.0.1 that shows why a signed request is rejected.

    Paste a request as HTTP, curl -v, a curl command or JSON, and the keys. The page shows the cause, the step that
    fails, both signature bases and the canonicalization. What is pasted stays in this process
    and is neither stored nor logged. Anybody on this machine who has the URL can use the page until you press Ctrl+C.
    """
    try:
        from undersigned_inspector.server import PageServer  # noqa: PLC0415 - the server needs the extra `inspect`
    except ImportError as missing:
        raise MissingExtra("inspect", missing) from None
    try:
        server = PageServer(port=port)
    except OSError as failure:
        raise click.ClickException(f"--port: 127.0.0.1:{port} cannot be used: {failure.strerror}") from None
    click.echo(f"Open {server.url}")
    click.echo("Press Ctrl+C to end.")
    if is_opened:
        webbrowser.open(server.url)
    # uvicorn repeats the signal after it has ended.
    with suppress(KeyboardInterrupt):
        server.run()

"""`undersigned inspect`: serve the page on this machine."""

from __future__ import annotations

from contextlib import suppress

import click

from .live import LAST_PORT
from .server import PageServer
from .view import paste


@click.command()
@click.option("--port", type=click.IntRange(0, LAST_PORT), default=0, help="The port.  [default: any free one]")
def inspect(*, port: int) -> None:
    """Serve a page on 127.0.0.1 that shows why a signed request is rejected.

    Paste a request as HTTP, curl -v, a curl command or JSON, and the keys. The page shows the cause, the step that
    fails, both signature bases and the canonicalization. What is pasted stays in this process and is neither stored nor
    logged. Anybody on this machine who has the URL can use the page until you press Ctrl+C.
    """
    try:
        server = PageServer(paste, port=port)
    except OSError as failure:
        raise click.ClickException(f"--port: 127.0.0.1:{port} cannot be used: {failure.strerror}") from None
    click.echo(f"Open {server.url}")
    click.echo("Press Ctrl+C to end.")
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()

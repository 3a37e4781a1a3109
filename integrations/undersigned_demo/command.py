"""`undersigned demo`: send signed and changed requests over real sockets."""

from __future__ import annotations

import click

from undersigned.cli.extras import MissingExtra


@click.command(short_help="Serve two applications, and attack them.")
def demo() -> None:
    """Show that signed requests are accepted and changed requests rejected.

    A FastAPI application under uvicorn and a Flask application under waitress listen on loopback. The clients requests
    and httpx send signed requests to both, unchanged and with one change each. The exit code is 0 if every answer is
    as expected.
    """
    try:
        from undersigned_demo import report  # noqa: PLC0415 - the frameworks need the extra `demo`
    except ImportError as missing:
        raise MissingExtra("undersigned[demo]", missing) from None
    click.get_current_context().exit(0 if report.show() else 1)

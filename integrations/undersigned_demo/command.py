"""`undersigned demo`: signed requests over real sockets, and what becomes of changed ones."""

from __future__ import annotations

import click

from undersigned.cli.extras import MissingExtra


@click.command()
def demo() -> None:
    """Show signed requests accepted and changed ones refused.

    A FastAPI application under uvicorn and a Flask application under waitress listen on loopback. Requests signed by
    requests and by httpx are sent to both as they were signed, and with one thing changed at a time. Exit 0 if every
    answer is as it must be.
    """
    try:
        from undersigned_demo import report  # noqa: PLC0415 - the frameworks are there with the extra `demo` only
    except ImportError as missing:
        raise MissingExtra("undersigned[demo]", missing) from None
    click.get_current_context().exit(0 if report.show() else 1)

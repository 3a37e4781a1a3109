"""`undersigned demo`: send signed and changed requests over real sockets."""

from __future__ import annotations

import click

from undersigned.cli.group import MissingExtra


@click.command()
def demo() -> None:
    """Show that signed requests are accepted and changed requests rejected.

    A FastAPI application under uvicorn and a Flask application under Werkzeug listen on loopback. The clients requests
    and httpx send signed requests to both, unchanged and with one change each. The exit code is 0 if every answer is
    as expected.
    """
    try:
        from undersigned_demo.trial import run  # noqa: PLC0415 - the frameworks need the extra `demo`
    except ImportError as missing:
        raise MissingExtra("demo", missing) from None
    passed = True
    for line, is_right in run():
        click.echo(click.style(line, fg=None if is_right else "red"))
        passed = passed and is_right
    click.get_current_context().exit(int(not passed))

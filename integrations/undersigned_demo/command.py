"""`undersigned demo`: send signed and changed requests over real sockets."""

from __future__ import annotations

import click

from undersigned_demo import run


@click.command()
def demo() -> None:
    """Show that signed requests are accepted and changed requests rejected.

    A FastAPI application under uvicorn and a Flask application under Werkzeug listen on loopback. The clients requests
    and httpx send signed requests to both, unchanged and with one change each. The exit code is 0 if every answer is
    as expected.
    """
    passed = True
    for line, is_right in run():
        click.echo(click.style(line, fg=None if is_right else "red"))
        passed = passed and is_right
    click.get_current_context().exit(int(not passed))

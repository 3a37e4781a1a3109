"""`undersigned routes`: print the policy of an application as a table, and compare it with one that was kept."""

from __future__ import annotations

import sys
from typing import Final, TextIO

import click

from undersigned.cli.options import imported
from undersigned.errors import ConfigurationError
from undersigned.policy import table_report

_CALL: Final = "()"


@click.command()
@click.argument("application", metavar="MODULE:APP")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
@click.option(
    "--check",
    "kept",
    metavar="FILE",
    type=click.File(),
    help="Compare with a table that was kept, in the same form: exit 1 and print the difference, if there is one.",
)
def routes(*, application: str, as_json: bool, kept: TextIO | None) -> None:
    """Print what the policy of an application demands for each route.

    `MODULE:APP` is what a server is told, such as `main:app`, or `main:create_app()` for a function that makes it.

    \b
    Examples:
      undersigned routes main:app > routes.txt
      undersigned routes main:app --check routes.txt
    """  # noqa: D301 - click needs the escape to keep the line breaks
    module, _, name = application.partition(":")
    try:
        app = imported(module, name.removesuffix(_CALL) or "app")
    except Exception as failure:  # noqa: BLE001 - a module of someone else may raise anything
        raise click.BadParameter(f"{application}: {failure}", param_hint="MODULE:APP") from None
    if name.endswith(_CALL) and callable(app):
        app = app()
    try:
        text, status = table_report(app, as_json=as_json, kept=kept.read() if kept else None)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from None
    click.echo(text, nl=False)
    sys.exit(status)

"""The command group. A command is imported when it is used, so that one does not wait for what others need."""

from __future__ import annotations

from importlib import import_module
from typing import Final, cast

import click

COMMANDS: Final = {
    "canonicalize": "undersigned.cli.canonicalize",
    "demo": "undersigned_demo.command",
    "doctor": "undersigned.cli.doctor.command",
    "explain": "undersigned.cli.explain",
    "inspect": "undersigned_inspector.command",
    "keygen": "undersigned.cli.keygen",
    "request": "undersigned.cli.request",
    "rotate": "undersigned.cli.rotate",
    "sign": "undersigned.cli.sign",
    "verify": "undersigned.cli.verify",
}
"""The module of each command, which has it under its name."""


class MissingExtra(click.ClickException):
    """Raised when an extra is not installed. It is shown as one line on standard error; the exit code is 2.

    Args:
        extra: the extra to install, such as `demo`.
        missing: the error of the import that failed.
    """

    exit_code = 2

    def __init__(self, extra: str, missing: ImportError) -> None:
        super().__init__(f"{missing.name or 'an import'} cannot be imported: pip install 'undersigned[{extra}]'")


class Commands(click.Group):
    """A group that imports a command only when it is used, or when the help of all commands is shown."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click passes it
        """Return the command of that name, or None."""
        module = COMMANDS.get(cmd_name)
        return None if module is None else cast("click.Command", getattr(import_module(module), cmd_name))


def _show_version(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    if value and not context.resilient_parsing:
        from undersigned import __version__  # noqa: PLC0415 - imported when it is used, as the module says
        from undersigned.signature.ed25519 import library  # noqa: PLC0415 - as above

        click.echo(f"undersigned {__version__} (Ed25519 by {library()})")
        context.exit()


undersigned = Commands(
    "undersigned",
    help="HTTP message signatures (RFC 9421): canonicalize URLs, sign requests, verify signed requests.",
)
click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, and which library signs and verifies Ed25519.",
)(undersigned)

"""The command group: the commands of this package, and plug-in commands of other packages.

A command that needs more than the extra `cli` is an entry point of the group `undersigned.commands`. The name of the
entry point is the name of the command and its value a `click.Command`. An extra of that name installs its packages.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import cast

import click

import undersigned as package
from undersigned.cli.canonicalize import canonicalize
from undersigned.cli.conformance import conformance
from undersigned.cli.doctor.command import doctor
from undersigned.cli.explain.command import explain
from undersigned.cli.extras import MissingExtra
from undersigned.cli.keygen import keygen
from undersigned.cli.request.command import request
from undersigned.cli.rotate import rotate
from undersigned.cli.sign import sign
from undersigned.cli.verify import verify
from undersigned.signature.ed25519 import library

PLUGINS = "undersigned.commands"
"""The entry-point group of the plug-in commands."""

COMMANDS = (canonicalize, explain, sign, request, verify, conformance, keygen, rotate, doctor)
"""The commands of this package. A plug-in cannot replace them."""


class Commands(click.Group):
    """A group that finds plug-in commands by name and imports a command only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *entry_points(group=PLUGINS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name. If its imports fail, return a command that names the extra to install."""
        own = super().get_command(ctx, cmd_name)
        plugins = entry_points(group=PLUGINS, name=cmd_name)
        if own is not None or not plugins:
            return own
        plugin = next(iter(plugins))
        try:
            return cast("click.Command", plugin.load())
        except ImportError as missing:
            return _unavailable(plugin, missing)


def _unavailable(plugin: EntryPoint, missing: ImportError) -> click.Command:
    requirement = f"{plugin.dist.name if plugin.dist else 'undersigned'}[{plugin.name}]"

    def fail() -> None:
        raise MissingExtra(requirement, missing)

    return click.Command(
        plugin.name,
        callback=fail,
        help=f"Not installed: pip install '{requirement}'.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


def _show_version(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    if value and not context.resilient_parsing:
        click.echo(f"undersigned {package.__version__} (Ed25519 by {library()})")
        context.exit()


undersigned = Commands(
    "undersigned",
    help="HTTP message signatures (RFC 9421): canonicalize URLs, sign requests, verify signed requests.",
    commands=COMMANDS,
)
click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, and which library signs and verifies Ed25519.",
)(undersigned)

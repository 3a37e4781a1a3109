"""The command group. A command is imported when it is used, so that one does not wait for what others need."""

from __future__ import annotations

from importlib import import_module
from typing import Final, cast

import click

COMMANDS: Final = {
    "canonicalize": ("undersigned.cli.canonicalize", "Print the canonical form of URLs."),
    "demo": ("undersigned_demo", "Run a demo: two servers, signed and tampered requests."),
    "doctor": ("undersigned.cli.doctor", "Check a deployment: find what rewrites requests in transit."),
    "explain": ("undersigned.cli.explain", "Explain why a request was rejected."),
    "inspect": ("undersigned_inspector.command", "Serve a page that shows why a request is rejected."),
    "keygen": ("undersigned.cli.keygen", "Make a key pair for request signing."),
    "partner": ("undersigned.cli.partner", "Write a page for a partner: what to publish, cover and send."),
    "request": ("undersigned.cli.request", "Send a signed request."),
    "revoke": ("undersigned.cli.revoke", "Put keys on a revocation list, and check that they are refused."),
    "rotate": ("undersigned.cli.rotate", "Rotate the signing key."),
    "routes": ("undersigned.cli.routes", "Print what the policy of an application demands for each route."),
    "sign": ("undersigned.cli.sign", "Sign a request and print the headers."),
    "verify": ("undersigned.cli.verify", "Verify signed requests from a file."),
}
"""The module of each command, which has it under its name, and what it does."""


class Commands(click.Group):
    """A group that imports a command only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click passes it
        """Return the command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", getattr(import_module(COMMANDS[cmd_name][0]), cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of all commands and what they do, without an import of each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


def _show_version(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    if value and not context.resilient_parsing:
        from undersigned import __version__  # noqa: PLC0415 - imported when it is used, as the module says
        from undersigned.signature.ed25519 import library  # noqa: PLC0415 - as above

        click.echo(f"undersigned {__version__} (Ed25519 by {library()})")
        context.exit()


undersigned = Commands(
    "undersigned", help="HTTP message signatures (RFC 9421): canonicalize URLs, sign requests, verify signed requests."
)
click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version, and which library signs and verifies Ed25519.",
)(undersigned)

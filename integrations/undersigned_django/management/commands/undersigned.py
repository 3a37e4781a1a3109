"""`manage.py undersigned routes`: print the policy of this project as a table, as `undersigned routes` does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.module_loading import import_string

from undersigned import ConfigurationError
from undersigned.policy import table_report
from undersigned_django.requirement import guards

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """The command."""

    help = "Print what the policy demands for each route, or compare that with a table that was kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("topic", choices=["routes"])
        parser.add_argument("--json", action="store_true", dest="as_json", help="print a JSON list of objects")
        parser.add_argument("--check", type=Path, metavar="FILE", help="compare with a table that was kept")

    def handle(self, *, as_json: bool, check: Path | None, **_options: object) -> None:
        """Print the table of the setting `UNDERSIGNED`, or of the middleware around `WSGI_APPLICATION`."""
        kept = None if check is None else check.read_text("utf-8")
        try:
            app = guards()[0] if getattr(settings, "UNDERSIGNED", None) else import_string(settings.WSGI_APPLICATION)
            text, status = table_report(app, as_json=as_json, kept=kept)
        except ConfigurationError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(text, ending="")
        if status:
            sys.exit(status)

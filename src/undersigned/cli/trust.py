"""Trust: the certificates by which a command trusts a server."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from undersigned.cli.input_file import MOST_SETTINGS

if TYPE_CHECKING:
    from undersigned.cli.input_file import InputFile


def tls_context(file: InputFile | None) -> ssl.SSLContext:
    """Return a TLS context that trusts the certificates of a file, or the system's if no file is given.

    Raises:
        click.BadParameter: the file cannot be read, or has no PEM certificate.
    """
    if file is None:
        return ssl.create_default_context()
    text = file.read(MOST_SETTINGS).decode("ascii", "ignore")
    try:
        # Without any text, the context would trust what the system trusts.
        return ssl.create_default_context(cadata=text or "-")
    except (ssl.SSLError, ValueError):
        raise file.wrong(f"{file} does not contain PEM certificates") from None

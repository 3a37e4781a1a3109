"""Certificates for test servers, made when the test runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trustme

if TYPE_CHECKING:
    from pathlib import Path


def certificate(path: Path, *hosts: str) -> Path:
    """A certificate for `hosts`, with its key and what a client trusts it by, in one file."""
    authority = trustme.CA()
    issued = authority.issue_cert(*hosts)
    path.write_bytes(issued.private_key_and_cert_chain_pem.bytes() + authority.cert_pem.bytes())
    return path

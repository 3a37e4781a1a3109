"""`python .ci/watch.py`: print a line for each source of a profile that has a newer version.

The workflow `watch` runs it weekly. Each profile names its source. The drafts among them are looked up at the IETF, and
`RELEASED` at GitHub.
"""

from __future__ import annotations

import json
import re
import sys
from urllib.request import urlopen

from undersigned import profiles

RELEASED = {
    "Universal-Commerce-Protocol/ucp": "v2026-04-08",
    "modelcontextprotocol/modelcontextprotocol": "2026-07-28",
    "adcontextprotocol/adcp": "v3.2",
    "fedify-dev/fedify": "2.3.8",
}
"""The releases of specifications and peers that the profiles were written against, by repository."""

OTHERS = ("draft-hardt-httpbis-signature-key-00",)
"""Drafts that no profile is of yet."""


def drafts() -> dict[str, str]:
    """Return the revision of each Internet-Draft that a profile names, or that is watched besides."""
    sources = " ".join([*(profile.source for profile in profiles.BY_NAME.values()), *OTHERS])
    return dict(re.findall(r"(draft-[a-z0-9-]+?)-(\d\d)\b", sources))


def ask(url: str) -> dict[str, object]:
    """Return the JSON object at a URL."""
    with urlopen(url, timeout=30) as answer:  # noqa: S310 - of two hosts, below
        return json.load(answer)


def main() -> int:
    """Print what is newer."""
    newer = []
    for name, revision in drafts().items():
        now = ask(f"https://datatracker.ietf.org/api/v1/doc/document/{name}/?format=json").get("rev")
        newer += [f"- {name}: {revision} is used, {now} is published"] if now != revision else []
    for name, release in RELEASED.items():
        now = ask(f"https://api.github.com/repos/{name}/releases/latest").get("tag_name")
        newer += [f"- {name}: {release} is used, {now} is released"] if now != release else []
    sys.stdout.write("".join(f"{line}\n" for line in newer))
    return 0


if __name__ == "__main__":
    sys.exit(main())

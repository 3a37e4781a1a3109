"""`python .ci/watch.py`: print a line for each document and each peer that has a newer edition than the one used here.

The workflow `watch` runs it weekly. Each profile names its source; `OTHERS` has the documents that no profile is of.
The peers are those of tests/interop.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen
from xml.etree import ElementTree as ET

from undersigned import profiles
from undersigned.signature.algorithms import ALGORITHMS
from undersigned.signature.profile import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTEROP = Path(__file__).parents[1] / "tests" / "interop"
REGISTRY = "https://www.iana.org/assignments/http-message-signature/http-message-signature.xml"
_GITHUB = "https://github.com"
OTHERS = (
    Source("MCP", "2026-07-28", url=f"{_GITHUB}/modelcontextprotocol/modelcontextprotocol"),
    Source("HTTP Signature Keys", "00", url="https://datatracker.ietf.org/doc/draft-hardt-httpbis-signature-key/"),
    Source(
        "Cloudflare's page on Web Bot Auth",
        "2026-11-22",
        url=f"{_GITHUB}/cloudflare/cloudflare-docs/blob/HEAD/"
        "src/content/docs/bots/reference/bot-verification/web-bot-auth.mdx",
    ),
    Source(
        "SWICG's report on ActivityPub and RFC 9421",
        "2026-11-22",
        url=f"{_GITHUB}/swicg/activitypub-http-signature/blob/HEAD/RFC9421.md",
    ),
)


def newest(source: Source, read: Callable[[str], str]) -> str:
    """Return the newest edition of a document, or the RFCs that change one. `read` returns the text at a URL."""
    host, *path = source.url.removeprefix("https://").strip("/").split("/")
    match host, *path:
        case "datatracker.ietf.org", "doc", name:
            return json.loads(read(f"https://{host}/api/v1/doc/document/{name}/?format=json"))["rev"]
        case "www.rfc-editor.org", "rfc", name:
            said = json.loads(read(f"https://{host}/rfc/{name}.json"))
            return ", ".join([*said["obsoleted_by"], *said["updated_by"]])
        case "github.com", owner, name:
            return json.loads(read(f"https://api.github.com/repos/{owner}/{name}/releases/latest"))["tag_name"]
        case "github.com", owner, name, "blob", "HEAD", *file:
            asked = f"https://api.github.com/repos/{owner}/{name}/commits?per_page=1&path={'/'.join(file)}"
            return max(source.edition, json.loads(read(asked))[0]["commit"]["committer"]["date"][:10])
    raise ValueError(source.url)


def documents(read: Callable[[str], str]) -> Iterator[str]:
    """Yield a line for each document whose newest edition no profile was written against."""
    named = [profile.source for profile in profiles.BY_NAME.values() if profile.source]
    sources = {source.url: source for source in (*named, *OTHERS)}
    for url, source in sources.items():
        used = {one.edition for one in (*named, *OTHERS) if one.url == url}
        try:
            now = newest(source, read)
        except (OSError, LookupError, ValueError) as error:
            yield f"- {source.document}: {url} cannot be looked up: {error!r}"
        else:
            if now not in used:
                editions = ", ".join(sorted(used)) or "the first edition"
                yield f"- {source.document}: {editions} is used, {now} is published"


def algorithms(read: Callable[[str], str]) -> Iterator[str]:
    """Yield a line for each algorithm in the registry of RFC 9421 that the library does not have, such as ML-DSA."""
    try:
        registry = ET.fromstring(read(REGISTRY))  # noqa: S314 - IANA's own
    except (OSError, ET.ParseError) as error:
        yield f"- {REGISTRY} cannot be looked up: {error!r}"
        return
    names = registry.findall(".//*[@id='signature-algorithms']/{*}record/{*}name")
    if not names:
        yield f"- {REGISTRY} lists no algorithm where it did"
    yield from (f"- {name.text} is a registered algorithm" for name in names if name.text not in ALGORITHMS)


def peers(run: Callable[..., str]) -> Iterator[str]:
    """Yield a line for each peer that has a newer release. `run` returns the output of a package manager."""
    npm = json.loads((INTEROP / "package.json").read_text("utf-8"))["dependencies"]
    pypi = dict(line.split("==") for line in (INTEROP / "pypi.txt").read_text("utf-8").split())
    for used, command, pattern in (
        (npm, ("npm", "view", "{}", "version"), r"(\S+)"),
        (pypi, (sys.executable, "-m", "pip", "index", "versions", "{}"), r"\S+ \((.*)\)"),
    ):
        for name, version in used.items():
            try:
                said = run(*(part.format(name) for part in command))
            except (OSError, subprocess.CalledProcessError) as error:
                yield f"- {name} cannot be looked up: {error!r}"
                continue
            found = re.match(pattern, said)
            if found is None or found[1] != version:
                yield f"- {name}: {version} is used, {found[1] if found else 'nothing'} is published"


def _read(url: str) -> str:
    with urlopen(url, timeout=30) as answer:  # noqa: S310 - the URLs above, all https
        return answer.read().decode()


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=120).stdout  # noqa: S603 - above


def main() -> None:
    """Print what is newer."""
    for line in chain(documents(_read), algorithms(_read), peers(_run)):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()

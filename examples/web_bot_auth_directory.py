"""A bot's site that publishes the directory of its keys, which each of them signs (`WEB_BOT_AUTH_DIRECTORY`).

Run it where `undersigned keygen --out keys` wrote the bot's key, with its public origin as ORIGIN:

    python examples/web_bot_auth_directory.py

Sites fetch it: `fastapi_web_bot_auth_app.py`.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from undersigned import SigningKey
from undersigned.publishing import PublishedDirectory
from undersigned_starlette import jwks_route

ORIGIN = "https://bot.example"


def bot_site(public_jwks: Mapping[str, object], key: SigningKey, origin: str) -> Starlette:
    return Starlette(routes=[jwks_route(PublishedDirectory(public_jwks, [key], origin=origin))])


if __name__ == "__main__":
    public = json.loads(Path("keys/public.jwks.json").read_text())
    site = bot_site(public, SigningKey.from_file("keys/private.jwk.json"), ORIGIN)
    uvicorn.run(site, host="127.0.0.1", port=8000)

"""A bot that signs what httpx sends, and names its keys to each site in the form that the site reads.

With a key that `undersigned keygen --out keys` wrote, a directory of it at BOT, and the example site running:

    python examples/web_bot_auth_client.py --key keys/private.jwk.json --bot https://bot.example \
        --site http://127.0.0.1:8000 --form string

`web_bot_auth_directory.py` publishes the directory.
"""

import argparse
import json
from collections.abc import Generator, Mapping
from pathlib import Path

import httpx

from undersigned import Signer, SigningKey, profiles
from undersigned.message import DIRECTORY_PATH, SignatureAgentForm, write_signature_agent
from undersigned_httpx import SignatureAuth

PROFILES = {
    "string": profiles.WEB_BOT_AUTH_STRING,
    "typed": profiles.WEB_BOT_AUTH_TYPED,
    "jwks": profiles.WEB_BOT_AUTH_JWKS,
}


class BotAuth(httpx.Auth):
    """Sends Signature-Agent and signs it, for the sites that are listed with the form that they read."""

    requires_request_body = True

    def __init__(self, key: SigningKey, bot: str, sites: Mapping[str, SignatureAgentForm]) -> None:
        # A member of the form `jwks` is the URL of the set itself, and a directory is one.
        urls = {"string": bot, "typed": bot, "jwks": bot + DIRECTORY_PATH}
        self.agents = {site: write_signature_agent(urls[form], form=form) for site, form in sites.items()}
        self.auths = {
            site: SignatureAuth(Signer(key, profile=PROFILES[form]), origins=[site]) for site, form in sites.items()
        }

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        site = str(request.url.copy_with(raw_path=b"/")).rstrip("/")
        if site not in self.auths:
            yield request
            return
        request.headers["Signature-Agent"] = self.agents[site]
        yield from self.auths[site].auth_flow(request)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the bot's private JWK; its kid is the thumbprint")
    parser.add_argument("--bot", required=True, help="the bot's origin, such as https://bot.example")
    parser.add_argument("--site", required=True, help="the site's origin")
    parser.add_argument("--form", choices=sorted(PROFILES), default="string", help="the form that the site reads")
    options = parser.parse_args()
    key = SigningKey.from_jwk(json.loads(options.key.read_text()))
    with httpx.Client(auth=BotAuth(key, options.bot, {options.site: options.form})) as client:
        answer = client.get(f"{options.site}/")
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""A bot that signs what httpx sends, and names its keys to each site in the form that the site reads.

With a key that `undersigned keygen --out keys` wrote, a directory of it at BOT, and the example site running:

    python examples/web_bot_auth_client.py --key keys/private.jwk.json --bot https://bot.example \
        --site http://127.0.0.1:8000 --form string

`web_bot_auth_directory.py` publishes the directory.
"""

import argparse

import httpx

from undersigned import Signer, SigningKey, profiles
from undersigned.client import BotAuth
from undersigned.message import DIRECTORY_PATH, SignatureAgentForm
from undersigned_httpx import SignatureTransport

PROFILES = {
    "string": profiles.WEB_BOT_AUTH_STRING,
    "typed": profiles.WEB_BOT_AUTH_TYPED,
    "jwks": profiles.WEB_BOT_AUTH_JWKS,
}


def crawler(key: SigningKey, bot: str, form: SignatureAgentForm) -> httpx.Client:
    # In the form `jwks`, the field has the URL of the set itself, and a directory is one.
    agent = bot + DIRECTORY_PATH if form == "jwks" else bot
    signer = BotAuth(Signer(key, profile=PROFILES[form]), agent=agent, form=form)
    # A crawler visits sites that nobody listed, so it signs for every origin.
    transport = SignatureTransport(httpx.HTTPTransport(), signer, origins=lambda _origin: True)
    return httpx.Client(transport=transport, follow_redirects=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the bot's private JWK; its kid is the thumbprint")
    parser.add_argument("--bot", required=True, help="the bot's origin, such as https://bot.example")
    parser.add_argument("--site", required=True, help="the site's origin")
    parser.add_argument("--form", choices=sorted(PROFILES), default="string", help="the form that the site reads")
    options = parser.parse_args()
    key = SigningKey.from_file(options.key)
    with crawler(key, options.bot, options.form) as client:
        answer = client.get(f"{options.site}/")
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())

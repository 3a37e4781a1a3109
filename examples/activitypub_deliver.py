"""A server of the fediverse that delivers an activity to an inbox, in the scheme that the inbox takes.

With the actor's RSA key in PEM, and the id under which the actor publishes it:

    python examples/activitypub_deliver.py --key actor.pem --keyid https://social.example/users/bob#main-key \
        --inbox https://inbox.example/inbox
"""

import argparse
import json
from pathlib import Path
from urllib.parse import urlsplit

import requests

from undersigned import Signer, SigningKey, profiles
from undersigned.cavage import CavageSigner
from undersigned.client import DoubleKnock
from undersigned_requests import SignatureAdapter


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the actor's private RSA key, in PEM")
    parser.add_argument("--keyid", required=True, help="the id of the key in the actor's publicKey")
    parser.add_argument("--inbox", required=True, help="the inbox, such as https://inbox.example/inbox")
    options = parser.parse_args()
    key = SigningKey.from_pem(options.key.read_bytes(), keyid=options.keyid, algorithm="rsa-v1_5-sha256")
    # Keep this object: it remembers which scheme an inbox accepted.
    signers = DoubleKnock(Signer(key, profile=profiles.ACTIVITYPUB), CavageSigner(key))
    url = urlsplit(options.inbox)
    session = requests.Session()
    session.mount(f"{url.scheme}://", SignatureAdapter(signers, origins=[f"{url.scheme}://{url.netloc}"]))
    actor = options.keyid.partition("#")[0]
    activity = {"@context": "https://www.w3.org/ns/activitystreams", "type": "Follow", "actor": actor}
    headers = {"Content-Type": "application/activity+json"}
    for _ in range(2):
        answer = session.post(options.inbox, data=json.dumps(activity), headers=headers, timeout=10)
        scheme = "RFC 9421" if "Signature-Input" in answer.request.headers else "draft-cavage-12"
        print(answer.status_code, f"by {scheme}, after {len(answer.history)} other tries")
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())

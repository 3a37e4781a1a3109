"""A server of the fediverse that delivers an activity to an inbox, in the scheme that the inbox takes.

Run it where the actor's RSA key is in `actor.pem`, with the id under which the actor publishes it as KEYID:

    python examples/activitypub_deliver.py
"""

import json
from pathlib import Path
from urllib.parse import urlsplit

import requests

from undersigned import Signer, SigningKey, profiles
from undersigned.cavage import CavageSigner
from undersigned.client import DoubleKnock
from undersigned_requests import SignatureAdapter

KEYID = "https://social.example/users/bob#main-key"
INBOX = "https://inbox.example/inbox"


def main() -> int:
    key = SigningKey.from_pem(Path("actor.pem").read_bytes(), keyid=KEYID, algorithm="rsa-v1_5-sha256")
    # Keep this object: it remembers which scheme an inbox accepted.
    signers = DoubleKnock(Signer(key, profile=profiles.ACTIVITYPUB), CavageSigner(key))
    url = urlsplit(INBOX)
    session = requests.Session()
    session.mount(f"{url.scheme}://", SignatureAdapter(signers, origins=[f"{url.scheme}://{url.netloc}"]))
    actor = KEYID.partition("#")[0]
    activity = {"@context": "https://www.w3.org/ns/activitystreams", "type": "Follow", "actor": actor}
    headers = {"Content-Type": "application/activity+json"}
    for _ in range(2):
        answer = session.post(INBOX, data=json.dumps(activity), headers=headers, timeout=10)
        scheme = "RFC 9421" if "Signature-Input" in answer.request.headers else "draft-cavage-12"
        print(answer.status_code, f"by {scheme}, after {len(answer.history)} other tries")
    return 0 if answer.ok else 1


if __name__ == "__main__":
    raise SystemExit(main())

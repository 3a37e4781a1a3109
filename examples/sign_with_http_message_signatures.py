"""A program that has http-message-signatures already, and signs the canonical target with it.

    python examples/sign_with_http_message_signatures.py

Without the resolver, the two spellings of the URL would be two targets, and the signature would not verify.
"""

import requests
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, MappingKeyResolver, algorithms

from undersigned_hms import CanonicalComponentResolver

SECRET = b"a shared secret of 32 random bytes or more"
KEYS = MappingKeyResolver(public_keys={"ours": SECRET}, private_keys={"ours": SECRET})


def main() -> int:
    signer = HTTPMessageSigner(
        signature_algorithm=algorithms.HMAC_SHA256,
        key_resolver=KEYS,
        component_resolver_class=CanonicalComponentResolver,
    )
    sent = requests.Request("GET", "https://SELLER.example.com:443/a/../plans/%67old?tier=1").prepare()
    covered = ('"@method"', '"@target-uri"', '"@query-param";name="tier"')
    signer.sign(sent, key_id="ours", covered_component_ids=covered)
    print("send it to", CanonicalComponentResolver(sent).target_uri)

    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.HMAC_SHA256,
        key_resolver=KEYS,
        component_resolver_class=CanonicalComponentResolver,
    )
    received = requests.Request("GET", "https://seller.example.com/plans/gold?tier=1", headers=sent.headers).prepare()
    [verified] = verifier.verify(received)
    for identifier, value in verified.covered_components.items():
        print(f"{identifier}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

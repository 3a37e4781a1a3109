// web-bot-auth of npm. Its keyid is the thumbprint of the key.
import { parsed } from "./components.mjs";

export async function peer(load, keys) {
  const { signatureHeaders, verify } = load("web-bot-auth");
  const { signerFromJWK, verifierFromJWK } = load("web-bot-auth/crypto");
  const jwks = keys.filter((jwk) => ["ed25519", "rsa-pss-sha512"].includes(jwk.algorithm));
  const members = ({ kty, crv, x, d, n, e, p, q, dp, dq, qi, alg }) =>
    kty === "OKP" ? { kty, crv, x, d } : { kty, n, e, d, p, q, dp, dq, qi, alg };
  const found = (keyid) => jwks.find((jwk) => jwk.kid === keyid);
  const component = (text) => {
    const { name, parameters } = parsed(text);
    return parameters.length ? { name, parameters: new Map(parameters) } : name;
  };
  const seconds = (since) => new Date(since * 1000);

  return {
    async sign({ method, url, fields, components, keyid, created }) {
      const signer = await signerFromJWK(members(found(keyid)));
      const made = await signatureHeaders({ method, url, headers: fields }, signer, {
        created: seconds(created), expires: seconds(created + 60), components: components.map(component),
      });
      return { ...fields, ...made };
    },
    async verify({ method, url, fields }) {
      const [, keyid] = /;keyid="([^"]+)"/.exec(fields["signature-input"]);
      await verify({ method, url, headers: fields }, await verifierFromJWK(members(found(keyid))));
      return true;
    },
  };
}

// http-message-signatures of npm.
import { createPrivateKey, createPublicKey, createSecretKey } from "node:crypto";

export async function peer(load, keys) {
  const { createSigner, createVerifier, httpbis } = load("http-message-signatures");
  const key = (jwk, create) =>
    jwk.kty === "oct" ? createSecretKey(jwk.k, "base64url") : create({ key: jwk, format: "jwk" });
  const found = (keyid) => keys.find((jwk) => jwk.kid === keyid);

  return {
    async sign({ method, url, fields, components, keyid, created }) {
      const jwk = found(keyid);
      const signer = createSigner(key(jwk, createPrivateKey), jwk.algorithm, keyid);
      const config = {
        key: signer, name: "sig1", fields: components, params: ["created", "keyid", "alg"],
        paramValues: { created: new Date(created * 1000) },
      };
      return (await httpbis.signMessage(config, { method, url, headers: fields })).headers;
    },
    async verify({ method, url, fields }) {
      const config = {
        requiredParams: ["created"],
        keyLookup: async ({ keyid }) => {
          const jwk = found(keyid);
          const publicKey = (made) => createPublicKey(createPrivateKey(made));
          const verify = createVerifier(key(jwk, publicKey), jwk.algorithm);
          return { id: keyid, algs: [jwk.algorithm], verify };
        },
      };
      return httpbis.verifyMessage(config, { method, url, headers: fields });
    },
  };
}

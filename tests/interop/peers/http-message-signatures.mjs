// http-message-signatures of npm.
import { createPrivateKey, createPublicKey, createSecretKey } from "node:crypto";

export async function peer(load, keys) {
  const { createSigner, createVerifier, httpbis } = load("http-message-signatures");
  const key = (jwk, create) =>
    jwk.kty === "oct" ? createSecretKey(jwk.k, "base64url") : create({ key: jwk, format: "jwk" });
  const found = (keyid) => keys.find((jwk) => jwk.kid === keyid);

  const signing = ({ components, keyid, created }) => {
    const jwk = found(keyid);
    return {
      key: createSigner(key(jwk, createPrivateKey), jwk.algorithm, keyid), name: "sig1", fields: components,
      params: ["created", "keyid", "alg"], paramValues: { created: new Date(created * 1000) },
    };
  };
  const verifying = {
    requiredParams: ["created"],
    keyLookup: async ({ keyid }) => {
      const jwk = found(keyid);
      const publicKey = (made) => createPublicKey(createPrivateKey(made));
      const verify = createVerifier(key(jwk, publicKey), jwk.algorithm);
      return { id: keyid, algs: [jwk.algorithm], verify };
    },
  };
  const request = ({ method, url, fields }) => ({ method, url, headers: fields });

  return {
    async sign(order) {
      return (await httpbis.signMessage(signing(order), request(order))).headers;
    },
    async verify(message) {
      return httpbis.verifyMessage(verifying, request(message));
    },
    async signAnswer({ status, fields, request: asked }, order) {
      return (await httpbis.signMessage(signing(order), { status, headers: fields }, request(asked))).headers;
    },
    async verifyAnswer({ status, fields, request: asked }) {
      return httpbis.verifyMessage(verifying, { status, headers: fields }, request(asked));
    },
  };
}

// @hellocoop/httpsig of npm. It sends what it signs itself, and finds the key in the request's Signature-Key.
const NAMES = {
  ed25519: "Ed25519", "ecdsa-p256-sha256": "ES256", "ecdsa-p384-sha384": "ES384", "rsa-pss-sha512": "PS512",
  "rsa-v1_5-sha256": "RS256",
};

export async function peer(load, keys) {
  const { fetch, expressVerify } = load("@hellocoop/httpsig");

  return {
    async send({ method, url, fields, body, components, keyid }) {
      const { kid, use, key_ops, adcp_use, algorithm, ...jwk } = keys.find((one) => one.kid === keyid);
      const { "Signature-Key": _made, ...headers } = fields;
      const response = await fetch(url, {
        method, headers, body: body || undefined, components, label: "sig1",
        signingKey: { ...jwk, alg: NAMES[algorithm] }, signatureKey: { type: "hwk" },
      });
      const got = {};
      response.headers.forEach((value, name) => (got[name] = [value]));
      return { status: response.status, fields: got, body: await response.text() };
    },
    async verify({ method, target, fields, authority, body }) {
      const request = {
        method, originalUrl: target, protocol: "http", hostname: authority.split(":")[0], headers: fields,
        body: body.length ? body : undefined,
      };
      const { verified, error } = await expressVerify(request, authority);
      if (error) throw new Error(error);
      return verified;
    },
  };
}

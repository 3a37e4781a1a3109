// @misskey-dev/node-http-message-signatures: ActivityPub requests by draft-cavage-12.
import { createPrivateKey, createPublicKey } from "node:crypto";

export async function peer(load, keys) {
  const { genRFC3230DigestHeader, parseRequestSignature, signAsDraftToRequest, verifyDigestHeader, verifyDraftSignature } =
    load("@misskey-dev/node-http-message-signatures");
  const jwk = keys.find((key) => key.actor);
  const publicKeyPem = createPublicKey({ key: jwk, format: "jwk" }).export({ type: "spki", format: "pem" });
  const privateKeyPem = createPrivateKey({ key: jwk, format: "jwk" }).export({ type: "pkcs8", format: "pem" });

  return {
    async sign({ method, url, fields, body }) {
      const headers = { ...fields, Date: new Date().toUTCString(), Host: new URL(url).host };
      headers.Digest = await genRFC3230DigestHeader(body, "SHA-256");
      const request = { method, url, headers, body };
      const names = ["(request-target)", "date", "host", "digest", "content-type"];
      await signAsDraftToRequest(request, { keyId: jwk.kid, privateKeyPem }, names);
      const { Host, host, ...made } = request.headers;
      return made;
    },
    async verify({ method, target, fields, body }) {
      const headers = Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, values.join(", ")]));
      const request = { method, url: target, headers };
      if ((await verifyDigestHeader(request, body, true)) !== true) return false;
      return verifyDraftSignature(parseRequestSignature(request).value, publicKeyPem);
    },
  };
}

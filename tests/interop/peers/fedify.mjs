// @fedify/fedify: ActivityPub requests by RFC 9421 and by draft-cavage-12. Its keys are those of actors, which it fetches.
import { createPrivateKey, createPublicKey } from "node:crypto";
import { pathToFileURL } from "node:url";

export async function peer(load, keys) {
  const root = load.resolve("@fedify/fedify").replace(/\/dist\/.*/, "");
  const { signRequest, verifyRequest } = await import(pathToFileURL(`${root}/dist/mod.js`));
  const jwk = keys.find((key) => key.actor);
  const pem = createPublicKey({ key: jwk, format: "jwk" }).export({ type: "spki", format: "pem" });
  const der = createPrivateKey({ key: jwk, format: "jwk" }).export({ type: "pkcs8", format: "der" });
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
  const document = {
    "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
    id: jwk.actor, type: "Person", publicKey: { id: jwk.kid, owner: jwk.actor, publicKeyPem: pem },
  };
  const { preloadedContexts } = await import(pathToFileURL(load.resolve("@fedify/vocab-runtime")));
  const loaded = (documents) => async (url) => {
    if (!(url in documents)) throw new Error(`not found: ${url}`);
    return { contextUrl: null, documentUrl: url, document: documents[url] };
  };
  const components = (names) => names.filter((name) => name !== "content-digest").map((value) => ({ value, params: {} }));

  return {
    async sign({ method, url, fields, body, components: names }) {
      const rfc9421 = { components: components(names) };
      const request = new Request(url, { method, headers: fields, body });
      const spec = names.length ? "rfc9421" : "draft-cavage-http-signatures-12";
      const signed = await signRequest(request, key, new URL(jwk.kid), { spec, rfc9421 });
      const { host, ...made } = Object.fromEntries(signed.headers);
      return made;
    },
    async verify({ method, url, fields, body }) {
      const spec = "signature-input" in fields ? "rfc9421" : "draft-cavage-http-signatures-12";
      const headers = Object.entries(fields).flatMap(([name, values]) => values.map((value) => [name, value]));
      const found = await verifyRequest(new Request(url, { method, headers, body }), {
        spec, documentLoader: loaded({ [jwk.actor]: document, [jwk.kid]: document }), contextLoader: loaded(preloadedContexts),
      });
      return found !== null;
    },
  };
}

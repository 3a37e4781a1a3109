// http-message-sig of npm, with its keys for Web Crypto.
import { parsed } from "./components.mjs";

export async function peer(load, keys) {
  const { createSignature, verifySignature, webcrypto } = load("http-message-sig");
  const parameters = {
    ed25519: { name: "Ed25519" },
    "rsa-pss-sha512": { name: "RSA-PSS", hash: "SHA-512" },
  };
  const imported = (jwk, usage) => {
    const { kid, alg, use, key_ops, adcp_use, algorithm, ...members } = jwk;
    if (usage === "verify") for (const member of ["d", "p", "q", "dp", "dq", "qi"]) delete members[member];
    return crypto.subtle.importKey("jwk", members, parameters[algorithm], true, [usage]);
  };
  const found = (keyid) => keys.find((jwk) => jwk.kid === keyid);
  const listed = (fields) =>
    Object.entries(fields).flatMap(([name, values]) => [].concat(values).map((value) => ({ name, value })));
  const request = ({ method, url, fields }) => ({
    kind: "request", method, targetUri: url, requestTarget: url.slice(url.indexOf("/", 8)), fields: listed(fields),
  });
  const response = ({ status, fields, request: asked }) => ({
    kind: "response", status, fields: listed(fields), request: request(asked),
  });
  const component = (text) => {
    const { name, parameters: own } = parsed(text);
    return { name, parameters: Object.fromEntries(own) };
  };

  const sign = async (message, fields, { components, keyid, created }) => {
    const jwk = found(keyid);
    const made = await createSignature(message, {
      signer: webcrypto.signer(await imported(jwk, "sign")), components: components.map(component),
      parameters: { created, keyid, alg: jwk.algorithm },
    });
    return { ...fields, "Signature-Input": made.signatureInput, Signature: made.signature };
  };
  const verify = async (message) => {
    await verifySignature(message, {
      policy: {
        algorithms: Object.keys(parameters), requiredComponents: [], requiredParameters: ["created"], maxAge: 300,
      },
      resolveVerifier: async (candidate) =>
        webcrypto.verifier(await imported(found(candidate.parameters.keyid), "verify")),
    });
    return true;
  };

  return {
    sign: (order) => sign(request(order), order.fields, order),
    verify: (message) => verify(request(message)),
    signAnswer: (answer, order) => sign(response(answer), answer.fields, order),
    verifyAnswer: (answer) => verify(response(answer)),
  };
}

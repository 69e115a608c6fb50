/** What cosign 3 is asked for an attestor, in the layout's folder, with the trust root that stands there. */
import { createHash } from "node:crypto";

export function cosignVerify(attestor, image, { keys, type }) {
  const { key, keyless, ctlog = {}, annotations = {} } = attestor.cosign;
  const named = key && Object.keys(keys).find((name) => keys[name] === key.data);
  const [identity] = keyless?.identities ?? [];
  const flag = (name, value) => (value ? [`--certificate-${name}`, value] : []);
  return [
    type === undefined ? "verify" : "verify-attestation",
    "--trusted-root",
    "trusted-root.json",
    ...(named ? ["--key", `keys/${named}.pub`] : []),
    ...(identity
      ? [
          ...flag("identity", identity.subject),
          ...flag("identity-regexp", identity.subjectRegExp),
          ...flag("oidc-issuer", identity.issuer),
          ...flag("oidc-issuer-regexp", identity.issuerRegExp),
        ]
      : []),
    ...(ctlog.insecureIgnoreTlog ? ["--insecure-ignore-tlog"] : []),
    ...(ctlog.insecureIgnoreSCT ? ["--insecure-ignore-sct"] : []),
    ...Object.entries(annotations).flatMap(([name, value]) => ["-a", `${name}=${value}`]),
    ...(type ? ["--type", type] : []),
    image.tagged,
  ];
}

export const short = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8);

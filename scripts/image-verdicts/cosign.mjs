/** What cosign 3 is asked for an attestor, in the layout's folder, with the trust root that stands there. */
/** Whether cosign can be asked the same: it takes one identity, with an issuer and a subject, each in one form. */
export function canAskCosign({ cosign: { keyless } }) {
  if (keyless === undefined) return true;
  const [identity = {}, ...more] = keyless.identities;
  const one = (...forms) => forms.filter((form) => identity[form] !== undefined).length === 1;
  return more.length === 0 && one("issuer", "issuerRegExp") && one("subject", "subjectRegExp");
}

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
    ...(ctlog.insecureIgnoreTlog ? ["--insecure-ignore-tlog", ...(keyless ? ["--use-signed-timestamps"] : [])] : []),
    ...(ctlog.insecureIgnoreSCT ? ["--insecure-ignore-sct"] : []),
    ...Object.entries(annotations).flatMap(([name, value]) => ["-a", `${name}=${value}`]),
    ...(type ? ["--type", type] : []),
    image.tagged,
  ];
}

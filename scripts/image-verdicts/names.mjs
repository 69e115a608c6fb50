/** The golden images by what is signed, and the keys, certificates and trust roots beside them (test/fixtures/images). */

const NAME = "org.opencontainers.image.ref.name";

export function namesOf(manifests, text) {
  const all = new Map();
  for (const { digest, annotations } of manifests) {
    const tagged = annotations?.[NAME];
    if (tagged === undefined || /:sha256-/.test(tagged)) continue;
    const [, repository, tag] = /^(.*):([^:]+)$/.exec(tagged);
    all.set(tagged.slice(tagged.indexOf("/") + 1), {
      tagged,
      repository,
      tag,
      digest,
      pinned: `${repository}@${digest}`,
    });
  }
  const image = (name) => {
    const found = all.get(name);
    if (found === undefined) throw new Error(`${name} does not stand in the layout`);
    return found;
  };
  const keys = Object.fromEntries(
    ["cosign", "other", "rsa", "p384", "ed25519", "rekor1", "rekor2", "ct"].map((name) => [
      name,
      text(`keys/${name}.pub`),
    ]),
  );
  const certificates = Object.fromEntries(
    [
      "own-leaf",
      "own-chain",
      "own-root",
      "own-intermediate",
      "own-expired-leaf",
      "notation-root",
      "notation-intermediate",
      "notation-other-root",
      "tsa-root",
      "tsa-intermediate",
      "fulcio-root",
      "fulcio",
    ].map((name) => [name, text(`certificates/${name}.pem`)]),
  );
  const roots = Object.fromEntries(["", "-own", "-other"].map((name) => [name, text(`trusted-root${name}.json`)]));
  return { all, image, keys, certificates, roots };
}

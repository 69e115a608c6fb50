/**
 * The golden images: name, what is done to each, and what the real tools must say of it.
 *
 * A step is a function of a bench (make.mjs) and the image's reference by digest. A check is `{ with, verifies }`, where `with` is a command line for
 * the image: `verify …` and `verify-attestation …` are cosign 3's, `notation …` are the maker's, by notation-go.
 */
const yes = (...lines) => lines.map((line) => ({ with: line, verifies: true }));
const no = (...lines) => lines.map((line) => ({ with: line, verifies: false }));

export const ISSUER = "http://localhost:5056";
export const GITHUB = {
  iss: `${ISSUER}/github`,
  sub: "repo:example/app:ref:refs/heads/main",
  job_workflow_ref: "example/app/.github/workflows/release.yml@refs/heads/main",
  job_workflow_sha: "1111111111111111111111111111111111111111",
  sha: "2222222222222222222222222222222222222222",
  event_name: "push",
  repository: "example/app",
  repository_id: "1001",
  repository_owner: "example",
  repository_owner_id: "2002",
  repository_visibility: "public",
  workflow: "release",
  workflow_ref: "example/app/.github/workflows/release.yml@refs/heads/main",
  workflow_sha: "2222222222222222222222222222222222222222",
  ref: "refs/heads/main",
  runner_environment: "github-hosted",
  run_id: "42",
  run_attempt: "1",
};
/** The same workflow of a fork, by hand and at a tag. */
export const FORK = Object.fromEntries(
  Object.entries({
    ...GITHUB,
    event_name: "workflow_dispatch",
    repository_id: "1002",
    repository_owner_id: "2003",
  }).map(([name, value]) => [
    name,
    name === "iss" ? value : value.replace("example", "stranger").replace("heads/main", "tags/v1"),
  ]),
);

export const TYPES = {
  slsaprovenance: "slsa.json",
  slsaprovenance1: "slsa1.json",
  "https://example.com/scan/v1": "scan.json",
  vuln: "vuln.json",
  spdxjson: "spdx.json",
  cyclonedx: "cyclonedx.json",
  custom: "scan.json",
};
const SCAN = "https://example.com/scan/v1";

const key = (name = "cosign") => `--key keys/${name}.pub`;
const mail = (name = "ci@example.org") => `--certificate-identity ${name} --certificate-oidc-issuer ${ISSUER}`;
const workflow = (claims = GITHUB) =>
  `--certificate-identity https://github.com/${claims.job_workflow_ref} --certificate-oidc-issuer ${claims.iss}`;
const attested = (who, types = Object.keys(TYPES)) => types.map((type) => `verify-attestation ${who} --type ${type}`);
/** What cosign must be told to verify with keys that are not P-256. */
const HASH = { rsa: "", p384: " --signature-digest-algorithm sha384" };
const QUIET = "--insecure-ignore-tlog";
const OWN = "verify --trusted-root trusted-root-own.json --insecure-ignore-sct --certificate-oidc-issuer-regexp .*";
/** cosign's check of the old form by a certificate that is given. */
const certified = (leaf, who = "builder@example.org") =>
  `verify --certificate certificates/${leaf}.pem --certificate-chain certificates/own-chain.pem --insecure-ignore-sct --certificate-oidc-issuer-regexp .* --certificate-identity ${who}`;
const notation = (root = "notation-root", rest = "") => `notation --roots certificates/${root}.pem${rest}`;
/** The same for the image's referrer that is an SBOM. */
const sbom = (root) => notation(root).replace("notation", "notation@sbom");
const STAMPED = " --tsa-roots certificates/tsa-root.pem";

const all = (steps) => async (bench, image) => {
  for (const step of steps) await step(bench, image);
};
/** A signature by cosign 2.6, in a layer below the tag `sha256-….sig`. */
const legacy = (options) => (bench, image) => bench.legacy(image, options);
/** A signature by cosign 3, in a bundle that refers to the image. */
const bundle = (options) => (bench, image) => bench.bundle(image, options);
const attestAll = (form, options, types = Object.keys(TYPES)) =>
  all(types.map((type) => (bench, image) => bench[form](image, { ...options, type })));
const notarize = (options) => (bench, image) => bench.notation(image, options);

const app = (tag, meaning, step, checks) => ({ name: `team/app:${tag}`, meaning, step, checks });
const multi = (tag, meaning, step, checks) => ({
  name: `team/multi:${tag}`,
  platforms: ["amd64", "arm64"],
  meaning,
  step,
  checks,
});
const tool = (tag, meaning, step, checks) => ({ name: `vendor/tool:${tag}`, meaning, step, checks });
const K = { key: "cosign" };

export const IMAGES = [
  app("unsigned", "nothing signed", undefined, no(`verify ${key()}`, `verify ${mail()}`, notation())),

  // cosign 2.6: layers below the tag sha256-….sig.
  app("legacy-key", "key `cosign`, Rekor 1 entry", legacy(K), [
    ...yes(`verify ${key()}`, `verify ${key()} ${QUIET}`),
    ...no(`verify ${key("other")}`, `verify ${mail()}`, `verify ${key()} -a env=prod`),
  ]),
  app("legacy-key-notlog", "key `cosign`, no log", legacy({ ...K, log: false }), [
    ...yes(`verify ${key()} ${QUIET}`),
    ...no(`verify ${key()}`, `verify ${key("other")} ${QUIET}`),
  ]),
  app("legacy-key-other", "key `other`, Rekor 1 entry", legacy({ key: "other" }), [
    ...yes(`verify ${key("other")}`),
    ...no(`verify ${key()}`),
  ]),
  ...Object.entries(HASH).map(([kind, hash]) =>
    app(`legacy-key-${kind}`, `key \`${kind}\`, no log`, legacy({ key: kind, log: false }), [
      ...yes(`verify ${key(kind)} ${QUIET}${hash}`),
      ...no(`verify ${key()} ${QUIET}`),
    ]),
  ),
  app(
    "legacy-key-ed25519",
    "key `ed25519`, no log. (cosign signs with Ed25519ph, and does not verify it.)",
    legacy({ key: "ed25519", log: false }),
    [...no(`verify ${key("ed25519")} ${QUIET}`, `verify ${key()} ${QUIET}`)],
  ),
  app(
    "legacy-annotated",
    "key `cosign`, Rekor 1, annotations env=prod and team=a",
    legacy({ ...K, annotations: ["env=prod", "team=a"] }),
    [
      ...yes(`verify ${key()}`, `verify ${key()} -a env=prod`, `verify ${key()} -a env=prod -a team=a`),
      ...no(`verify ${key()} -a env=dev`, `verify ${key()} -a env=prod -a other=x`),
    ],
  ),
  app("legacy-key-tsa", "key `cosign`, RFC 3161 timestamp, no log", legacy({ ...K, log: false, tsa: true }), [
    ...yes(`verify ${key()} ${QUIET} --use-signed-timestamps`),
    ...no(`verify ${key("other")} ${QUIET} --use-signed-timestamps`),
  ]),
  app(
    "legacy-key-log-tsa",
    "key `cosign`, Rekor 1 entry and RFC 3161 timestamp",
    legacy({ ...K, tsa: true }),
    yes(`verify ${key()}`),
  ),
  app("legacy-keyless", "identity ci@example.org, Rekor 1, SCT", legacy({ mail: "ci@example.org" }), [
    ...yes(`verify ${mail()}`, `verify --certificate-identity-regexp ^ci@ --certificate-oidc-issuer-regexp localhost`),
    ...no(`verify ${mail("dev@example.com")}`, `verify ${workflow()}`, `verify ${key()}`),
  ]),
  app(
    "legacy-keyless-nosct",
    "identity ci@example.org, Rekor 1, no SCT",
    legacy({ mail: "ci@example.org", sct: false }),
    [...yes(`verify ${mail()} --insecure-ignore-sct`), ...no(`verify ${mail()}`)],
  ),
  app("legacy-keyless-other", "identity dev@example.com, Rekor 1, SCT", legacy({ mail: "dev@example.com" }), [
    ...yes(`verify ${mail("dev@example.com")}`),
    ...no(`verify ${mail()}`),
  ]),
  app(
    "legacy-keyless-github",
    "identity of a GitHub workflow (push to main), Rekor 1, SCT",
    legacy({ claims: GITHUB }),
    [
      ...yes(`verify ${workflow()}`, `verify ${workflow()} --certificate-github-workflow-trigger push`),
      ...no(
        `verify ${workflow(FORK)}`,
        `verify ${workflow()} --certificate-github-workflow-trigger schedule`,
        `verify ${mail()}`,
      ),
    ],
  ),
  app(
    "legacy-keyless-fork",
    "identity of a fork's workflow (by hand, tag v1), Rekor 1, SCT",
    legacy({ claims: FORK }),
    [...yes(`verify ${workflow(FORK)}`), ...no(`verify ${workflow()}`)],
  ),
  app(
    "legacy-keyless-tsa",
    "identity ci@example.org, RFC 3161 timestamp, no log",
    legacy({ mail: "ci@example.org", log: false, tsa: true }),
    [...yes(`verify ${mail()} ${QUIET} --use-signed-timestamps`), ...no(`verify ${mail()}`)],
  ),
  app(
    "legacy-keyless-notime",
    "identity ci@example.org, neither log nor timestamp: the certificate has expired",
    legacy({ mail: "ci@example.org", log: false }),
    no(`verify ${mail()}`, `verify ${mail()} ${QUIET}`, `verify ${mail("dev@example.com")} ${QUIET}`),
  ),
  app("legacy-two-keys", "keys `cosign` and `other`, two layers, Rekor 1", all([legacy(K), legacy({ key: "other" })]), [
    ...yes(`verify ${key()}`, `verify ${key("other")}`),
  ]),
  app(
    "legacy-key-and-keyless",
    "key `cosign` and identity ci@example.org, two layers",
    all([legacy(K), legacy({ mail: "ci@example.org" })]),
    [...yes(`verify ${key()}`, `verify ${mail()}`)],
  ),
  app(
    "legacy-cosign3",
    "key `cosign`, Rekor 1, by cosign 3 with --new-bundle-format=false",
    legacy({ ...K, by: "cosign" }),
    yes(`verify ${key()}`),
  ),
  app(
    "legacy-other-reference",
    "key `cosign`, Rekor 1, payload names localhost:5055/vendor/tool (the digest is right)",
    legacy({ ...K, reference: "localhost:5055/vendor/tool" }),
    [...yes(`verify ${key()}`)],
  ),
  app(
    "legacy-copied",
    "the signature of legacy-key below this image's tag: another digest",
    (bench, image) => bench.copySignature("team/app:legacy-key", image),
    [...no(`verify ${key()}`, `verify ${key()} ${QUIET}`)],
  ),
  app(
    "legacy-elsewhere",
    "key `cosign`, Rekor 1, in the repository team/signatures",
    legacy({ ...K, repository: "localhost:5055/team/signatures" }),
    [...yes(`verify@localhost:5055/team/signatures ${key()}`), ...no(`verify ${key()}`)],
  ),
  app(
    "legacy-certificate",
    "own certificate (own-leaf, own-intermediate, own-root), Rekor 1",
    legacy({ certificate: "own-leaf" }),
    [...yes(certified("own-leaf")), ...no(`verify ${mail()}`, `verify ${key()}`)],
  ),
  app("legacy-certificate-notlog", "own certificate, no log", legacy({ certificate: "own-leaf", log: false }), [
    ...yes(`${certified("own-leaf")} ${QUIET}`),
  ]),
  app(
    "legacy-certificate-expired",
    "own certificate that has expired, no log",
    legacy({ certificate: "own-expired-leaf", log: false }),
    [...no(`${certified("own-expired-leaf")} ${QUIET}`)],
  ),
  app(
    "legacy-attested-key",
    "attestations of all types in .att, key `cosign`, Rekor 1; no signature",
    attestAll("legacy", K),
    [
      ...yes(...attested(key())),
      ...no(...attested(key("other"), [SCAN]), ...attested(key(), ["link"]), `verify ${key()}`),
    ],
  ),
  app(
    "legacy-attested-keyless",
    "attestations of all types in .att, identity ci@example.org, Rekor 1; no signature",
    attestAll("legacy", { mail: "ci@example.org" }),
    [...yes(...attested(mail())), ...no(...attested(mail("dev@example.com"), [SCAN]))],
  ),
  app(
    "legacy-attested-github",
    "attestation slsaprovenance in .att and signature, identity of a GitHub workflow, Rekor 1",
    all([legacy({ claims: GITHUB }), attestAll("legacy", { claims: GITHUB }, ["slsaprovenance"])]),
    [
      ...yes(`verify ${workflow()}`, ...attested(workflow(), ["slsaprovenance"])),
      ...no(...attested(workflow(), [SCAN])),
    ],
  ),
  app(
    "legacy-signed-scanned",
    "signature and scan attestation in .att, key `cosign`, Rekor 1",
    all([legacy(K), attestAll("legacy", K, [SCAN])]),
    [...yes(`verify ${key()}`, ...attested(key(), [SCAN])), ...no(...attested(key(), ["vuln"]))],
  ),

  app(
    "legacy-referrer",
    "key `cosign`, Rekor 1, the layer's manifest as a referrer (cosign's old OCI 1.1 mode)",
    legacy({ ...K, referrer: true }),
    [
      ...yes(`verify --experimental-oci11 ${key()}`),
      ...no(`verify ${key()}`, `verify --experimental-oci11 ${key("other")}`),
    ],
  ),
  app(
    "legacy-attested-intoto",
    "scan attestation in .att, key `cosign`, Rekor 1 entry of the kind intoto; no signature",
    attestAll("legacy", { ...K, entry: "intoto" }, [SCAN]),
    [...yes(...attested(key(), [SCAN])), ...no(...attested(key("other"), [SCAN]))],
  ),
  app(
    "legacy-attested-notlog",
    "scan attestation in .att and signature, key `cosign`, no log",
    all([legacy({ ...K, log: false }), attestAll("legacy", { ...K, log: false }, [SCAN])]),
    [...yes(...attested(`${key()} ${QUIET}`, [SCAN])), ...no(...attested(key(), [SCAN]))],
  ),
  app(
    "legacy-mixed-keys",
    "signature by key `cosign`, scan attestation in .att by key `other`, Rekor 1",
    all([legacy(K), attestAll("legacy", { key: "other" }, [SCAN])]),
    [...yes(`verify ${key()}`, ...attested(key("other"), [SCAN])), ...no(...attested(key(), [SCAN]))],
  ),
  {
    ...app(
      "legacy-docker",
      "an image of Docker's media types: layer, key `cosign`, Rekor 1",
      legacy(K),
      yes(`verify ${key()}`),
    ),
    form: "docker",
  },

  app(
    "legacy-split",
    "key `cosign` without annotations, and key `other` with env=prod: no signature has both",
    all([legacy(K), legacy({ key: "other", annotations: ["env=prod"] })]),
    [...yes(`verify ${key()}`, `verify ${key("other")} -a env=prod`), ...no(`verify ${key()} -a env=prod`)],
  ),

  // cosign 3: bundles as referrers.
  app("bundle-key", "key `cosign`, Rekor 2, timestamp", bundle(K), [
    ...yes(`verify ${key()}`),
    ...no(`verify ${key("other")}`, `verify ${mail()}`, `verify ${key()} -a env=prod`, ...attested(key(), [SCAN])),
  ]),
  app("bundle-key-notlog", "key `cosign`, neither log nor timestamp", bundle({ ...K, services: "none" }), [
    ...yes(`verify ${key()} ${QUIET}`),
    ...no(`verify ${key()}`, `verify ${key("other")} ${QUIET}`),
  ]),
  app("bundle-key-tsa", "key `cosign`, timestamp, no log", bundle({ ...K, services: "tsa" }), [
    ...yes(`verify ${key()} ${QUIET} --use-signed-timestamps`),
    ...no(`verify ${key()}`),
  ]),
  app(
    "bundle-key-rekor1",
    "key `cosign`, Rekor 1 entry (promise and proof)",
    bundle({ ...K, services: "rekor1" }),
    yes(`verify ${key()}`),
  ),
  app("bundle-key-other", "key `other`, Rekor 2, timestamp", bundle({ key: "other" }), [
    ...yes(`verify ${key("other")}`),
    ...no(`verify ${key()}`),
  ]),
  ...Object.entries(HASH).map(([kind, hash]) =>
    app(`bundle-key-${kind}`, `key \`${kind}\`, neither log nor timestamp`, bundle({ key: kind, services: "none" }), [
      ...yes(`verify ${key(kind)} ${QUIET}${hash}`),
      ...no(`verify ${key()} ${QUIET}`),
    ]),
  ),
  app(
    "bundle-key-ed25519",
    "key `ed25519`, neither log nor timestamp. (cosign signs with Ed25519ph, and does not verify it.)",
    bundle({ key: "ed25519", services: "none" }),
    [...no(`verify ${key("ed25519")} ${QUIET}`, `verify ${key()} ${QUIET}`)],
  ),
  app(
    "bundle-annotated",
    "key `cosign`, Rekor 2, timestamp, annotations env=prod and team=a",
    bundle({ ...K, annotations: ["env=prod", "team=a"] }),
    [
      ...yes(`verify ${key()}`, `verify ${key()} -a env=prod`, `verify ${key()} -a env=prod -a team=a`),
      ...no(`verify ${key()} -a env=dev`),
    ],
  ),
  app("bundle-keyless", "identity ci@example.org, Rekor 2, timestamp, SCT", bundle({ mail: "ci@example.org" }), [
    ...yes(`verify ${mail()}`, `verify --certificate-identity-regexp ^ci@ --certificate-oidc-issuer-regexp localhost`),
    ...no(`verify ${mail("dev@example.com")}`, `verify ${workflow()}`, `verify ${key()}`),
  ]),
  app(
    "bundle-keyless-nosct",
    "identity ci@example.org, Rekor 2, timestamp, no SCT",
    bundle({ mail: "ci@example.org", sct: false }),
    [...yes(`verify ${mail()} --insecure-ignore-sct`), ...no(`verify ${mail()}`)],
  ),
  app(
    "bundle-keyless-rekor1",
    "identity ci@example.org, Rekor 1, SCT",
    bundle({ mail: "ci@example.org", services: "rekor1" }),
    yes(`verify ${mail()}`),
  ),
  app(
    "bundle-keyless-tsa",
    "identity ci@example.org, timestamp, SCT, no log",
    bundle({ mail: "ci@example.org", services: "tsa" }),
    [...yes(`verify ${mail()} ${QUIET} --use-signed-timestamps`), ...no(`verify ${mail()}`)],
  ),
  app(
    "bundle-keyless-other",
    "identity dev@example.com, Rekor 2, timestamp, SCT",
    bundle({ mail: "dev@example.com" }),
    [...yes(`verify ${mail("dev@example.com")}`), ...no(`verify ${mail()}`)],
  ),
  app(
    "bundle-keyless-github",
    "identity of a GitHub workflow (push to main), Rekor 2, timestamp, SCT",
    bundle({ claims: GITHUB }),
    [...yes(`verify ${workflow()}`), ...no(`verify ${workflow(FORK)}`, `verify ${mail()}`)],
  ),
  app(
    "bundle-keyless-fork",
    "identity of a fork's workflow (by hand, tag v1), Rekor 2, timestamp, SCT",
    bundle({ claims: FORK }),
    [...yes(`verify ${workflow(FORK)}`), ...no(`verify ${workflow()}`)],
  ),
  app("bundle-attested-key", "attestations of all types, key `cosign`, Rekor 2; no signature", attestAll("bundle", K), [
    ...yes(...attested(key())),
    ...no(...attested(key("other"), [SCAN]), ...attested(key(), ["link"])),
  ]),
  app(
    "bundle-attested-keyless",
    "attestations of all types, identity ci@example.org, Rekor 2; no signature",
    attestAll("bundle", { mail: "ci@example.org" }),
    [...yes(...attested(mail())), ...no(...attested(mail("dev@example.com"), [SCAN]))],
  ),
  app(
    "bundle-attested-github",
    "attestation slsaprovenance1 and signature, identity of a GitHub workflow, Rekor 2",
    all([bundle({ claims: GITHUB }), attestAll("bundle", { claims: GITHUB }, ["slsaprovenance1"])]),
    [
      ...yes(`verify ${workflow()}`, ...attested(workflow(), ["slsaprovenance1"])),
      ...no(...attested(workflow(), [SCAN])),
    ],
  ),
  app(
    "bundle-signed-scanned",
    "signature and scan attestation, key `cosign`, Rekor 2",
    all([bundle(K), attestAll("bundle", K, [SCAN])]),
    [...yes(`verify ${key()}`, ...attested(key(), [SCAN])), ...no(...attested(key(), ["vuln"]))],
  ),
  app(
    "bundle-signed-failed",
    "signature and a scan attestation that says `failed`, key `cosign`, Rekor 2",
    all([bundle(K), (bench, image) => bench.bundle(image, { ...K, type: SCAN, predicate: "failed.json" })]),
    [...yes(`verify ${key()}`, ...attested(key(), [SCAN]))],
  ),
  app(
    "attested-only",
    "scan attestation, key `cosign`, Rekor 2; no signature. (cosign 3 counts any bundle as a signature.)",
    attestAll("bundle", K, [SCAN]),
    [...yes(...attested(key(), [SCAN]), `verify ${key()}`)],
  ),
  app(
    "mixed-keys",
    "signature by key `cosign`, scan attestation by key `other`, Rekor 2",
    all([bundle(K), attestAll("bundle", { key: "other" }, [SCAN])]),
    [...yes(`verify ${key()}`, ...attested(key("other"), [SCAN])), ...no(...attested(key(), [SCAN]))],
  ),
  app(
    "both-forms",
    "key `cosign` in both forms",
    all([legacy(K), bundle(K)]),
    yes(`verify ${key()}`, `verify --new-bundle-format=false ${key()}`),
  ),
  app(
    "two-signers",
    "bundle by key `cosign`, layer by key `other`. (cosign 3 looks at bundles alone.)",
    all([bundle(K), legacy({ key: "other" })]),
    [...yes(`verify ${key()}`, `verify --new-bundle-format=false ${key("other")}`), ...no(`verify ${key("other")}`)],
  ),
  app(
    "two-bundles",
    "bundles by key `cosign` and by identity ci@example.org",
    all([bundle(K), bundle({ mail: "ci@example.org" })]),
    [...yes(`verify ${key()}`, `verify ${mail()}`)],
  ),
  app(
    "bundle-certificate",
    "own certificate (own-leaf) in a bundle, Rekor 2, timestamp",
    bundle({ certificate: "own-leaf" }),
    [
      ...yes(`${OWN} --certificate-identity builder@example.org`),
      ...no(`${OWN} --certificate-identity ci@example.org`, `verify ${mail("builder@example.org")}`, `verify ${key()}`),
    ],
  ),
  app(
    "bundle-certificate-two-names",
    "own certificate of two names (own-two-leaf) in a bundle, Rekor 2, timestamp. (cosign 3 looks at the URI alone.)",
    bundle({ certificate: "own-two-leaf" }),
    [
      ...yes(`${OWN} --certificate-identity https://example.org/builder`),
      ...no(`${OWN} --certificate-identity builder@example.org`),
    ],
  ),

  app(
    "bundle-certificate-expired",
    "own certificate that has expired (own-expired-leaf) in a bundle, timestamp before that",
    bundle({ certificate: "own-expired-leaf" }),
    [...yes(`${OWN} --certificate-identity builder@example.org`)],
  ),
  app(
    "bundle-cosign26",
    "key `cosign`, Rekor 1, by cosign 2.6 with --new-bundle-format",
    bundle({ ...K, by: "cosign2", services: "rekor1" }),
    yes(`verify ${key()}`),
  ),
  app(
    "bundle-keyless-cosign26",
    "identity ci@example.org, Rekor 1, by cosign 2.6 with --new-bundle-format",
    bundle({ mail: "ci@example.org", by: "cosign2", services: "rekor1" }),
    yes(`verify ${mail()}`),
  ),
  app(
    "bundle-message",
    "the manifest signed as a blob: a bundle with a message signature, key `cosign`, Rekor 2. (cosign 3 wants an envelope.)",
    (bench, image) => bench.message(image, K),
    [...yes(`bundle ${key()}`), ...no(`bundle ${key("other")}`, `verify ${key()}`)],
  ),
  app(
    "bundle-message-keyless",
    "the manifest signed as a blob: a bundle with a message signature, identity ci@example.org, Rekor 2",
    (bench, image) => bench.message(image, { mail: "ci@example.org" }),
    [...yes(`bundle ${mail()}`), ...no(`bundle ${mail("dev@example.com")}`, `verify ${mail()}`)],
  ),
  ...["0.1", "0.2"].flatMap((version) => [
    app(
      `bundle-v${version}`,
      `identity ci@example.org, Rekor 1, the bundle rewritten as version ${version}`,
      all([bundle({ mail: "ci@example.org", services: "rekor1" }), (bench, image) => bench.rewrap(image, version)]),
      [...yes(`bundle ${mail()}`), ...no(`bundle ${mail("dev@example.com")}`, `verify ${mail()}`)],
    ),
    app(
      `bundle-v${version}-key`,
      `key \`cosign\`, Rekor 1, the bundle rewritten as version ${version}`,
      all([bundle({ ...K, services: "rekor1" }), (bench, image) => bench.rewrap(image, version)]),
      [...yes(`bundle ${key()}`), ...no(`bundle ${key("other")}`, `verify ${key()}`)],
    ),
  ]),
  app(
    "bundle-copied",
    "the bundle of bundle-key refers to this image: another digest",
    (bench, image) => bench.copyReferrer("team/app:bundle-key", image),
    no(`verify ${key()}`, `verify ${mail()}`),
  ),
  app(
    "bundle-many",
    "seven bundles: six by key `other`, one by key `cosign`",
    all([
      ...[1, 2, 3].map(() => bundle({ key: "other" })),
      bundle(K),
      ...[1, 2, 3].map(() => bundle({ key: "other" })),
    ]),
    [...yes(`verify ${key()}`, `verify ${key("other")}`), ...no(`verify ${mail()}`)],
  ),
  app(
    "bundle-two-scans",
    "signature, a scan that says `passed` and one that says `failed`, key `cosign`, Rekor 2",
    all([
      bundle(K),
      attestAll("bundle", K, [SCAN]),
      (bench, image) => bench.bundle(image, { ...K, type: SCAN, predicate: "failed.json" }),
    ]),
    [...yes(`verify ${key()}`, ...attested(key(), [SCAN]))],
  ),
  app(
    "bundle-scans-of-two-keys",
    "signature by key `cosign`; a scan that says `failed` by key `cosign`, and one that says `passed` by key `other`",
    all([
      bundle(K),
      (bench, image) => bench.bundle(image, { ...K, type: SCAN, predicate: "failed.json" }),
      attestAll("bundle", { key: "other" }, [SCAN]),
    ]),
    [...yes(`verify ${key()}`, ...attested(key(), [SCAN]), ...attested(key("other"), [SCAN]))],
  ),
  {
    ...app(
      "bundle-docker",
      "an image of Docker's media types: bundle, key `cosign`, Rekor 2",
      bundle(K),
      yes(`verify ${key()}`),
    ),
    form: "docker",
  },

  app(
    "bundle-split",
    "key `cosign` without annotations, and key `other` with env=prod: no signature has both",
    all([bundle(K), bundle({ key: "other", annotations: ["env=prod"] })]),
    [...yes(`verify ${key()}`, `verify ${key("other")} -a env=prod`), ...no(`verify ${key()} -a env=prod`)],
  ),
  app(
    "bundle-keyless-split",
    "identity ci@example.org with env=dev, and dev@example.com with env=prod",
    all([
      bundle({ mail: "ci@example.org", annotations: ["env=dev"] }),
      bundle({ mail: "dev@example.com", annotations: ["env=prod"] }),
    ]),
    [
      ...yes(`verify ${mail()} -a env=dev`, `verify ${mail("dev@example.com")} -a env=prod`),
      ...no(`verify ${mail()} -a env=prod`),
    ],
  ),
  app(
    "split-forms",
    "key `cosign`: a bundle without annotations, and a layer with env=prod. (cosign 3 looks at bundles alone.)",
    all([bundle(K), legacy({ ...K, annotations: ["env=prod"] })]),
    [
      ...yes(`verify ${key()}`, `verify --new-bundle-format=false ${key()} -a env=prod`),
      ...no(`verify ${key()} -a env=prod`),
    ],
  ),
  app(
    "bundle-keyless-notime",
    "identity ci@example.org, neither log nor timestamp: the certificate has expired",
    bundle({ mail: "ci@example.org", services: "none" }),
    [...no(`verify ${mail()}`, `verify ${mail()} ${QUIET}`)],
  ),

  // Indexes of several platforms.
  multi("unsigned", "nothing signed", undefined, no(`verify ${key()}`)),
  multi("index", "bundle on the index alone, key `cosign`", bundle(K), yes(`verify ${key()}`)),
  multi(
    "child",
    "bundle on the child linux/amd64 alone, key `cosign`",
    (bench, image) => bench.bundle(bench.child(image, "amd64"), K),
    no(`verify ${key()}`),
  ),
  multi(
    "recursive",
    "bundles on the index and both children (--recursive), key `cosign`",
    bundle({ ...K, recursive: true }),
    yes(`verify ${key()}`),
  ),
  multi("legacy-index", "layer on the index alone, key `cosign`, Rekor 1", legacy(K), yes(`verify ${key()}`)),
  multi(
    "legacy-child",
    "layer on the child linux/amd64 alone, key `cosign`, Rekor 1",
    (bench, image) => bench.legacy(bench.child(image, "amd64"), K),
    no(`verify ${key()}`),
  ),
  multi(
    "legacy-recursive",
    "layers on the index and both children, key `cosign`, Rekor 1",
    legacy({ ...K, recursive: true }),
    yes(`verify ${key()}`),
  ),
  multi(
    "keyless",
    "bundle on the index, identity ci@example.org, and scan attestation",
    all([bundle({ mail: "ci@example.org" }), attestAll("bundle", { mail: "ci@example.org" }, [SCAN])]),
    [...yes(`verify ${mail()}`, ...attested(mail(), [SCAN]))],
  ),

  multi(
    "child-attested",
    "bundle on the index, scan attestation on the child linux/amd64 alone, key `cosign`",
    async (bench, image) => {
      await bench.bundle(image, K);
      await bench.bundle(bench.child(image, "amd64"), { ...K, type: SCAN });
    },
    [...yes(`verify ${key()}`), ...no(...attested(key(), [SCAN]))],
  ),
  {
    ...multi(
      "docker",
      "a manifest list of Docker's media types: bundle on the list, key `cosign`",
      bundle(K),
      yes(`verify ${key()}`),
    ),
    form: "docker",
  },

  // A second repository of the team.
  {
    name: "team/base:signed",
    meaning: "bundle, key `cosign`, Rekor 2",
    step: bundle(K),
    checks: yes(`verify ${key()}`),
  },
  {
    name: "team/base:legacy",
    meaning: "layer, key `cosign`, Rekor 1",
    step: legacy(K),
    checks: yes(`verify ${key()}`),
  },
  { name: "team/base:unsigned", meaning: "nothing signed", checks: no(`verify ${key()}`) },

  // A vendor: key `other`, and Notation.
  tool("unsigned", "nothing signed", undefined, no(`verify ${key("other")}`, notation())),
  tool(
    "signed",
    "bundle, key `other`, Rekor 2, with scan attestation",
    all([bundle({ key: "other" }), attestAll("bundle", { key: "other" }, [SCAN])]),
    [...yes(`verify ${key("other")}`, ...attested(key("other"), [SCAN])), ...no(`verify ${key()}`)],
  ),
  ...["rsa2048", "rsa3072", "p256", "p384", "p521"].map((kind) =>
    tool(`notation-${kind}`, `Notation, JWS, ${kind}`, notarize({ chain: `notation-${kind}` }), [
      ...yes(notation(), notation("notation-intermediate")),
      ...no(notation("notation-other-root"), notation("notation-root", STAMPED)),
    ]),
  ),
  tool("notation-identity", "Notation, JWS, p256; for trusted identities", notarize({ chain: "notation-p256" }), [
    ...yes(notation("notation-root", " --identity x509.subject:C=US,ST=WA,O=test,CN=test-notation-p256")),
    ...no(notation("notation-root", " --identity x509.subject:C=US,ST=WA,O=test,CN=test-notation-p384")),
  ]),
  tool(
    "notation-timestamp",
    "Notation, JWS, p256, RFC 3161 timestamp",
    notarize({ chain: "notation-p256", tsa: true }),
    [
      ...yes(notation(), notation("notation-root", STAMPED)),
      ...no(notation("notation-root", " --tsa-roots certificates/notation-other-root.pem")),
    ],
  ),
  tool(
    "notation-rsa-timestamp",
    "Notation, JWS, rsa2048, RFC 3161 timestamp",
    notarize({ chain: "notation-rsa2048", tsa: true }),
    yes(notation("notation-root", STAMPED)),
  ),
  tool(
    "notation-expired-certificate",
    "Notation, JWS, certificate that has expired, no timestamp",
    notarize({ chain: "notation-expired" }),
    no(notation()),
  ),
  tool(
    "notation-expired-certificate-timestamp",
    "Notation, JWS, certificate that has expired, timestamp before that",
    notarize({ chain: "notation-expired", tsa: true }),
    [...yes(notation("notation-root", STAMPED)), ...no(notation())],
  ),
  tool(
    "notation-expired-signature",
    "Notation, JWS, p256, signature that has expired",
    notarize({ chain: "notation-p256", expiry: "1s" }),
    no(notation()),
  ),
  tool(
    "notation-expiry",
    "Notation, JWS, p256, signature that expires in 70 years",
    notarize({ chain: "notation-p256", expiry: "613200h" }),
    yes(notation()),
  ),
  tool("notation-other", "Notation, JWS, another root (notation-other-root)", notarize({ chain: "notation-other" }), [
    ...yes(notation("notation-other-root")),
    ...no(notation()),
  ]),
  tool(
    "notation-two",
    "Notation, JWS, two signatures: another root, and p256",
    all([notarize({ chain: "notation-other" }), notarize({ chain: "notation-p256" })]),
    [...yes(notation(), notation("notation-other-root"))],
  ),
  tool(
    "notation-metadata",
    "Notation, JWS, p256, signed metadata env=prod",
    notarize({ chain: "notation-p256", metadata: "env=prod" }),
    yes(notation()),
  ),
  tool("notation-cose", "Notation, COSE, p256", notarize({ chain: "notation-p256", form: "cose" }), yes(notation())),
  tool(
    "notation-copied",
    "the signature of notation-p256 as a referrer of this image: another digest",
    (bench, image) => bench.copyReferrer("vendor/tool:notation-p256", image),
    no(notation()),
  ),
  tool(
    "notation-sbom",
    "Notation on the image, and on its referrer of type application/vnd.cyclonedx+json",
    async (bench, image) => {
      await bench.notation(image, { chain: "notation-p256" });
      await bench.notation(await bench.attach(image, "application/vnd.cyclonedx+json", "cyclonedx.json"), {
        chain: "notation-p256",
      });
    },
    yes(notation(), sbom()),
  ),
  tool(
    "notation-sbom-unsigned",
    "Notation on the image; its referrer of type application/vnd.cyclonedx+json is not signed",
    async (bench, image) => {
      await bench.notation(image, { chain: "notation-p256" });
      await bench.attach(image, "application/vnd.cyclonedx+json", "cyclonedx.json");
    },
    [...yes(notation()), ...no(sbom())],
  ),
  tool(
    "notation-sbom-other",
    "Notation on the image; its referrer (in the form before OCI 1.1) is signed under another root",
    async (bench, image) => {
      await bench.notation(image, { chain: "notation-p256" });
      await bench.notation(await bench.attach(image, "application/vnd.cyclonedx+json", "cyclonedx.json", true), {
        chain: "notation-other",
      });
    },
    [...yes(notation(), sbom("notation-other-root")), ...no(sbom())],
  ),
  tool(
    "notation-and-bundle",
    "Notation (p256) and a bundle by key `cosign`",
    all([notarize({ chain: "notation-p256" }), bundle(K)]),
    yes(notation(), `verify ${key()}`),
  ),
  tool(
    "notation-keyless-bundle",
    "Notation (p256) and a bundle by identity ci@example.org",
    all([notarize({ chain: "notation-p256" }), bundle({ mail: "ci@example.org" })]),
    yes(notation(), `verify ${mail()}`),
  ),
  tool(
    "notation-cose-and-jws",
    "Notation, COSE under another root and JWS, p256",
    all([notarize({ chain: "notation-other", form: "cose" }), notarize({ chain: "notation-p256" })]),
    [...yes(notation(), notation("notation-other-root"))],
  ),
  tool(
    "notation-self-signed",
    "Notation, JWS, a certificate signed by itself",
    notarize({ chain: "notation-self-signed" }),
    [...yes(notation("notation-self-signed")), ...no(notation())],
  ),
  tool(
    "notation-authority",
    "Notation, JWS, p256, the scheme notary.x509.signingAuthority",
    notarize({ chain: "notation-p256", scheme: "notary.x509.signingAuthority" }),
    no(notation()),
  ),
  tool(
    "notation-critical",
    "Notation, JWS, p256, an unknown critical attribute. (The specification wants it refused; notation-go does not.)",
    notarize({ chain: "notation-p256", critical: "org.example.unknown" }),
    yes(notation()),
  ),
  {
    ...tool(
      "notation-index",
      "an index of two platforms, Notation on the index alone, JWS, p256",
      notarize({ chain: "notation-p256" }),
      yes(notation()),
    ),
    platforms: ["amd64", "arm64"],
  },
  tool(
    "keyless",
    "bundle, identity of a GitHub workflow, with slsaprovenance1 and scan attestations",
    all([bundle({ claims: GITHUB }), attestAll("bundle", { claims: GITHUB }, ["slsaprovenance1", SCAN])]),
    [
      ...yes(`verify ${workflow()}`, ...attested(workflow(), ["slsaprovenance1", SCAN])),
      ...no(`verify ${workflow(FORK)}`),
    ],
  ),
];

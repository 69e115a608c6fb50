/** Cases about signatures: every attestor beside every golden image, and the fields of attestors one by one. */
import { canAskCosign, cosignVerify } from "./cosign.mjs";
import { asked, byKey, cosign, keyless, notary, OFFLINE, pod, policy, REFUSED, right, SIGNED } from "./short.mjs";

const ISSUER = "http://localhost:5056";
const GITHUB = `${ISSUER}/github`;
const WORKFLOW = "https://github.com/example/app/.github/workflows/release.yml@refs/heads/main";
const FORK = "https://github.com/stranger/app/.github/workflows/release.yml@refs/tags/v1";

function corrected(images, corrections) {
  if (corrections === undefined) return {};
  return {
    differs: [...new Set(Object.values(corrections).map(([reason]) => reason))].join(", "),
    right: images.map(([path]) => {
      const [, status, message] = corrections[path] ?? [];
      return status === undefined ? null : { status, message };
    }),
  };
}

export function signatureCases({ all, image, keys, certificates, roots }) {
  const cases = [];
  const URL = "http://localhost:5059";
  const ci = { issuer: ISSUER, subject: "ci@example.org" };

  // Every attestor beside every image.
  const attestors = {
    "key cosign": byKey(keys.cosign),
    "key cosign, log": byKey(keys.cosign, { ctlog: undefined }),
    "key other": byKey(keys.other),
    "key rsa": byKey(keys.rsa),
    "key p384": byKey(keys.p384),
    "key ed25519": byKey(keys.ed25519),
    "ci@example.org": keyless(ci),
    "ci@example.org, SCT": keyless(ci, { ctlog: undefined }),
    "ci@example.org, no log": keyless(ci, { ctlog: OFFLINE }),
    "dev@example.com": keyless({ issuer: ISSUER, subject: "dev@example.com" }),
    workflow: keyless({ issuer: GITHUB, subject: WORKFLOW }),
    "workflows of a fork": keyless({ issuer: GITHUB, subjectRegExp: "^https://github\\.com/stranger/.*" }),
    "own certificate": cosign({
      certificate: { cert: { value: certificates["own-leaf"] }, certChain: { value: certificates["own-chain"] } },
      ctlog: OFFLINE,
    }),
    "own certificate alone": cosign({ certificate: { cert: { value: certificates["own-leaf"] } }, ctlog: OFFLINE }),
    notary: notary(certificates["notation-root"]),
    "notary, timestamps": notary(certificates["notation-root"], { tsa: certificates["tsa-root"] }),
    "notary, other root": notary(certificates["notation-other-root"]),
  };
  /** Where Kyverno is wrong, by attestor and image. */
  const SIGNATURE = ["unverified", "pass", "success"];
  const NONE = ["weaker", "fail", "not signed"];
  const UNSERVED = ["refused", "fail", "not signed"];
  const of = (form, ...names) => Object.fromEntries(names.map((name) => [`team/app:${name}`, form]));
  const byKeyCosign = {
    ...of(NONE, "attested-only", "bundle-attested-key"),
    // cosign and Kyverno want an envelope of version 0.3; sigstore-go verifies these.
    ...of(SIGNATURE, "bundle-message", "bundle-v0.1-key", "bundle-v0.2-key"),
  };
  const byMail = {
    ...of(NONE, "bundle-attested-keyless"),
    ...of(SIGNATURE, "bundle-message-keyless", "bundle-v0.1", "bundle-v0.2"),
  };
  const corrections = {
    "key cosign": byKeyCosign,
    "key cosign, log": byKeyCosign,
    "key other": { ...of(NONE, "mixed-keys", "bundle-scans-of-two-keys"), ...of(SIGNATURE, "two-signers") },
    "key p384": of(SIGNATURE, "bundle-key-p384"),
    "ci@example.org": byMail,
    "ci@example.org, SCT": byMail,
    "ci@example.org, no log": {
      ...of(NONE, "bundle-attested-keyless"),
      ...of(SIGNATURE, "bundle-message-keyless", "legacy-keyless-tsa"),
    },
    "own certificate": of(SIGNATURE, "bundle-certificate"),
    "own certificate alone": of(SIGNATURE, "bundle-certificate"),
    // An unknown critical attribute is to be refused, and COSE is not served.
    notary: { "vendor/tool:notation-cose": UNSERVED, "vendor/tool:notation-critical": NONE },
    "notary, other root": { "vendor/tool:notation-cose-and-jws": UNSERVED },
  };
  for (const [name, attestor] of Object.entries(attestors)) {
    const ours = [...all].filter(([path]) =>
      attestor.notary ? path.startsWith("vendor/") : !/notation-(?!and|p256)/.test(path),
    );
    const asks =
      attestor.cosign?.certificate || attestor.notary
        ? []
        : ours.map(([, one]) => cosignVerify(attestor, one, { keys }));
    cases.push({
      id: `every image/${name}`,
      policies: [policy({ attestors: [attestor] })],
      resources: ours.map(([, one]) => pod(one.tagged)),
      ...(asks.length > 0 && { cosign: asks }),
      ...corrected(ours, corrections[name]),
    });
  }

  const one = (id, name, attestor, more, spec = {}) =>
    cases.push(asked(`signature/${id}`, { attestors: [attestor].flat(), ...spec }, pod(image(name).tagged), more));
  const judged = (id, name, attestor, more = {}) =>
    one(id, name, attestor, {
      ...(canAskCosign(attestor) && { cosign: [cosignVerify(attestor, image(name), { keys })] }),
      ...more,
    });
  const BOTH = ["bundle", "legacy"];

  // Identities.
  const identities = {
    "issuer and subject": ci,
    "issuer alone": { issuer: ISSUER },
    "subject alone": { subject: "ci@example.org" },
    neither: {},
    "wrong issuer": { issuer: "http://localhost:5057", subject: "ci@example.org" },
    "wrong subject": { issuer: ISSUER, subject: "cd@example.org" },
    "subject in upper case": { issuer: ISSUER, subject: "CI@example.org" },
    "subject with a glob": { issuer: ISSUER, subject: "*@example.org" },
    "part of the subject": { issuer: ISSUER, subject: "ci@example" },
    "issuer with a slash": { issuer: `${ISSUER}/`, subject: "ci@example.org" },
    "subject expression, anchored": { issuer: ISSUER, subjectRegExp: "^ci@example\\.org$" },
    "subject expression, part": { issuer: ISSUER, subjectRegExp: "@example" },
    "subject expression, other": { issuer: ISSUER, subjectRegExp: "^dev@" },
    "subject expression, any": { issuer: ISSUER, subjectRegExp: ".*" },
    "issuer expression": { issuerRegExp: "^http://localhost:[0-9]+$", subject: "ci@example.org" },
    "issuer expression, part": { issuerRegExp: "localhost", subjectRegExp: "ci" },
    "issuer expression, other": { issuerRegExp: "^https://", subject: "ci@example.org" },
    "both expressions any": { issuerRegExp: ".*", subjectRegExp: ".*" },
    "subject and its expression": { ...ci, subjectRegExp: "^ci@" },
    "subject right, its expression wrong": { ...ci, subjectRegExp: "^dev@" },
    "expression does not compile": { issuer: ISSUER, subjectRegExp: "(" },
    "expression with a look ahead": { issuer: ISSUER, subjectRegExp: "^(?!dev).*@example.org$" },
    "expression in Go's syntax": { issuer: ISSUER, subjectRegExp: "(?i)^CI@EXAMPLE\\.ORG\\z" },
    "first of two": [ci, { issuer: ISSUER, subject: "x" }],
    "second of two": [{ issuer: ISSUER, subject: "x" }, ci],
    "halves of two": [
      { issuer: "http://x", subject: "ci@example.org" },
      { issuer: ISSUER, subject: "x" },
    ],
    none: [],
  };
  /** One rule for both forms: what is given must fit, and one of several identities. */
  const ofBundles = Object.fromEntries(
    ["issuer alone", "subject alone", "first of two", "second of two"].map((id) => [
      id,
      right("unverified", "pass", "success"),
    ]),
  );
  const ofBoth = Object.fromEntries(
    ["neither", "none", "expression does not compile", "expression with a look ahead"].map((id) => [id, REFUSED]),
  );
  for (const form of BOTH)
    for (const [id, identity] of Object.entries(identities))
      judged(`${form}, identity: ${id}`, `team/app:${form}-keyless`, keyless(identity), {
        ...(form === "bundle" && ofBundles[id]),
        ...ofBoth[id],
      });
  const expression = { issuer: ISSUER, subjectExpression: "'^dev@'" };
  one("subject expression of CEL, wrong", "team/app:bundle-keyless", keyless(expression));
  one(
    "subject expression of CEL, right",
    "team/app:bundle-keyless",
    keyless({ issuer: ISSUER, subjectExpression: "'^ci@'" }),
    right("unverified", "pass", "success"),
  );
  one(
    "legacy, subject expression of CEL, right",
    "team/app:legacy-keyless",
    keyless({ issuer: ISSUER, subjectExpression: "'^ci@'" }),
  );
  one(
    "legacy, subject expression of CEL, wrong",
    "team/app:legacy-keyless",
    keyless(expression),
    right("weaker", "fail", "not signed"),
  );
  one(
    "subject expression of CEL, of the object",
    "team/app:bundle-keyless",
    keyless({ issuer: ISSUER, subjectExpression: "'@' + object.metadata.namespace" }),
  );
  for (const form of BOTH) {
    const github = (more) => keyless({ issuer: GITHUB, subject: WORKFLOW }, more);
    judged(`${form}, workflow`, `team/app:${form}-keyless-github`, github());
    judged(`${form}, workflow of a fork`, `team/app:${form}-keyless-fork`, github());
    judged(
      `${form}, workflow, expression`,
      `team/app:${form}-keyless-github`,
      keyless({ issuer: GITHUB, subjectRegExp: "https://github.com/example/app/.+" }),
    );
    judged(
      `${form}, workflow, other branch`,
      `team/app:${form}-keyless-github`,
      keyless({ issuer: GITHUB, subject: WORKFLOW.replace("main", "dev") }),
    );
    judged(
      `${form}, workflow of a fork by its name`,
      `team/app:${form}-keyless-fork`,
      keyless({ issuer: GITHUB, subject: FORK }),
    );
    one(
      `${form}, extension right`,
      `team/app:${form}-keyless-github`,
      github({ additionalExtensions: { githubWorkflowTrigger: "push" } }),
    );
    one(
      `${form}, extension wrong`,
      `team/app:${form}-keyless-github`,
      github({ additionalExtensions: { githubWorkflowTrigger: "schedule" } }),
      right("weaker", "fail", "not signed"),
    );
  }

  // Trust roots and logs.
  for (const form of BOTH) {
    const keylessWith = (id, members, more, name = `team/app:${form}-keyless`) =>
      one(`${form}, ${id}`, name, keyless(ci, members), more);
    keylessWith("roots: Fulcio's", { roots: certificates["fulcio-root"] });
    keylessWith("roots: Fulcio's chain", { roots: certificates.fulcio + certificates["fulcio-root"] });
    keylessWith("roots: others", { roots: certificates["own-root"] }, right("weaker", "fail", "not signed"));
    keylessWith("roots: no certificate", { roots: "nothing" }, REFUSED);
    keylessWith("trusted root", { trustedRoot: { value: roots[""] } });
    keylessWith("trusted root of others", { trustedRoot: { value: roots["-other"] } });
    keylessWith("trusted root with the own root", { trustedRoot: { value: roots["-own"] } });
    keylessWith("trusted root is no JSON", { trustedRoot: { value: "nothing" } }, REFUSED);
    keylessWith("trusted root is empty", { trustedRoot: { value: "{}" } }, REFUSED);
    keylessWith("no ctlog", { ctlog: undefined });
    keylessWith("ctlog without a url", { ctlog: { insecureIgnoreSCT: true } }, right("unverified", "pass", "success"));
    keylessWith("ctlog is empty", { ctlog: {} }, right("unverified", "pass", "success"));
    keylessWith("ctlog with a url", { ctlog: { url: URL } });
    keylessWith(
      "ctlog with Rekor's key",
      { ctlog: { url: URL, rekorPubKey: keys.rekor1 } },
      form === "bundle" ? right("weaker", "fail", "not signed") : {},
    );
    keylessWith(
      "ctlog with another key",
      { ctlog: { url: URL, rekorPubKey: keys.other } },
      right("weaker", "fail", "not signed"),
    );
    keylessWith("ctlog with the certificate log's key", { ctlog: { url: URL, ctLogPubKey: keys.ct } });
    keylessWith(
      "ctlog with another certificate log's key",
      { ctlog: { url: URL, ctLogPubKey: keys.other } },
      right("weaker", "fail", "not signed"),
    );
    keylessWith("ctlog with a broken key", { ctlog: { url: URL, rekorPubKey: "nothing" } }, REFUSED);
    keylessWith("no SCT in the certificate", { ctlog: { url: URL } }, {}, `team/app:${form}-keyless-nosct`);
    keylessWith(
      "no SCT in the certificate, ignored",
      { ctlog: { url: URL, insecureIgnoreSCT: true } },
      {},
      `team/app:${form}-keyless-nosct`,
    );
    keylessWith(
      "timestamp, no log",
      { ctlog: { insecureIgnoreTlog: true } },
      form === "legacy" ? right("unverified", "pass", "success") : {},
      `team/app:${form}-keyless-tsa`,
    );
    keylessWith(
      "timestamp, no log, chain given",
      {
        ctlog: { insecureIgnoreTlog: true, tsaCertChain: certificates["tsa-intermediate"] + certificates["tsa-root"] },
      },
      {},
      `team/app:${form}-keyless-tsa`,
    );
    keylessWith(
      "timestamp, no log, other chain",
      { ctlog: { insecureIgnoreTlog: true, tsaCertChain: certificates["notation-root"] } },
      {},
      `team/app:${form}-keyless-tsa`,
    );
    keylessWith("timestamp, log wanted", { ctlog: { url: URL } }, {}, `team/app:${form}-keyless-tsa`);
    one(`${form}, key with a timestamp`, `team/app:${form}-key-tsa`, byKey(keys.cosign));
    one(
      `${form}, key with a timestamp, log wanted`,
      `team/app:${form}-key-tsa`,
      byKey(keys.cosign, { ctlog: undefined }),
    );
    one(`${form}, key without log`, `team/app:${form}-key-notlog`, byKey(keys.cosign));
    one(
      `${form}, key without log, log wanted`,
      `team/app:${form}-key-notlog`,
      byKey(keys.cosign, { ctlog: { url: URL } }),
    );
    one(
      `${form}, key, only SCTs ignored`,
      `team/app:${form}-key-notlog`,
      byKey(keys.cosign, { ctlog: { url: URL, insecureIgnoreSCT: true } }),
    );
  }
  one(
    "certificate beyond its time, neither log nor timestamp",
    "team/app:legacy-keyless-notime",
    keyless(ci, { ctlog: OFFLINE }),
  );
  one(
    "trusted root by an expression",
    "team/app:bundle-keyless",
    keyless(ci, { trustedRoot: { expression: "variables.root" } }),
    {},
    { variables: [{ name: "root", expression: JSON.stringify(roots[""]) }] },
  );
  one(
    "trusted root of a ConfigMap",
    "team/app:bundle-keyless",
    keyless(ci, { trustedRoot: { expression: "resource.Get('v1', 'configmaps', 'trust', 'root').data.root" } }),
    {
      objects: [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "root", namespace: "trust" },
          data: { root: roots[""] },
        },
      ],
    },
  );

  // Keys.
  for (const form of BOTH) {
    const name = `team/app:${form}-key`;
    for (const hashAlgorithm of ["sha224", "sha256", "sha384", "sha512", "SHA256", "md5", ""])
      one(
        `${form}, hash ${hashAlgorithm || "empty"}`,
        name,
        cosign({ key: { data: keys.cosign, hashAlgorithm }, ctlog: OFFLINE }),
        ["SHA256", "md5"].includes(hashAlgorithm) ? REFUSED : {},
      );
    one(
      `${form}, P-384 key, sha384`,
      `team/app:${form}-key-p384`,
      cosign({ key: { data: keys.p384, hashAlgorithm: "sha384" }, ctlog: OFFLINE }),
    );
    one(
      `${form}, key in a certificate's place`,
      name,
      cosign({ certificate: { cert: { value: keys.cosign } }, ctlog: OFFLINE }),
      REFUSED,
    );
    one(
      `${form}, certificate in a key's place`,
      `team/app:${form}-certificate`,
      cosign({ key: { data: certificates["own-leaf"] }, ctlog: OFFLINE }),
      REFUSED,
    );
    one(`${form}, key with spaces around`, name, byKey(`\n\n  ${keys.cosign}\n`), REFUSED);
    one(`${form}, two keys in one text`, name, byKey(keys.other + keys.cosign));
    one(`${form}, the right key first of two`, name, byKey(keys.cosign + keys.other));
  }
  one("key is no PEM", "team/app:bundle-key", byKey("nothing"), REFUSED);
  one("key is empty", "team/app:bundle-key", byKey(""), REFUSED);
  one(
    "key of a key management service",
    "team/app:bundle-key",
    cosign({ key: { kms: "hashivault://x" }, ctlog: OFFLINE }),
    REFUSED,
  );
  one("no key at all", "team/app:bundle-key", cosign({ key: {}, ctlog: OFFLINE }), REFUSED);
  one("cosign is empty", "team/app:bundle-key", cosign({}), REFUSED);
  one("neither cosign nor notary", "team/app:bundle-key", { name: "a" }, REFUSED);
  one(
    "both cosign and notary",
    "team/app:bundle-key",
    { ...byKey(keys.cosign), notary: { certs: { value: certificates["notation-root"] } } },
    REFUSED,
  );
  one(
    "key and keyless",
    "team/app:bundle-key",
    cosign({ key: { data: keys.cosign }, keyless: { identities: [ci] }, ctlog: OFFLINE }),
    REFUSED,
  );
  one(
    "key and certificate",
    "team/app:bundle-key",
    cosign({ key: { data: keys.cosign }, certificate: { cert: { value: certificates["own-leaf"] } }, ctlog: OFFLINE }),
    REFUSED,
  );
  one(
    "key and an expression",
    "team/app:bundle-key",
    cosign({ key: { data: keys.other, expression: "variables.key" }, ctlog: OFFLINE }),
    REFUSED,
    { variables: [{ name: "key", expression: JSON.stringify(keys.cosign) }] },
  );
  const keyOf = (id, expression_, more, spec) =>
    one(
      `key by an expression, ${id}`,
      "team/app:bundle-key",
      cosign({ key: { expression: expression_ }, ctlog: OFFLINE }),
      more,
      spec,
    );
  keyOf("text", JSON.stringify(keys.cosign));
  keyOf("other text", JSON.stringify(keys.other));
  keyOf("variable", "variables.key", {}, { variables: [{ name: "key", expression: JSON.stringify(keys.cosign) }] });
  keyOf("object", "object.metadata.annotations.key");
  keyOf("ConfigMap", "resource.Get('v1', 'configmaps', 'trust', 'keys').data.cosign", {
    objects: [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "keys", namespace: "trust" },
        data: { cosign: keys.cosign },
      },
    ],
  });
  keyOf("no ConfigMap", "resource.Get('v1', 'configmaps', 'trust', 'keys').data.cosign");
  keyOf("a number", "1", REFUSED);
  keyOf("no key", "'nothing'");

  // Annotations, places.
  for (const form of BOTH)
    for (const [id, annotations] of Object.entries({
      right: { env: "prod" },
      both: { env: "prod", team: "a" },
      wrong: { env: "dev" },
      missing: { env: "prod", other: "x" },
      none: {},
    }))
      judged(
        `${form}, annotations ${id}`,
        `team/app:${form}-annotated`,
        byKey(keys.cosign, { annotations }),
        ["right", "both"].includes(id) ? right("unverified", "pass", "success") : {},
      );
  judged(
    "annotations of a signature without",
    "team/app:legacy-key",
    byKey(keys.cosign, { annotations: { env: "prod" } }),
  );
  one(
    "in another repository",
    "team/app:legacy-elsewhere",
    byKey(keys.cosign, { source: { repository: "localhost:5055/team/signatures" } }),
  );
  one("in another repository, not looked there", "team/app:legacy-elsewhere", byKey(keys.cosign));
  one(
    "not in the other repository",
    "team/app:legacy-key",
    byKey(keys.cosign, { source: { repository: "localhost:5055/team/signatures" } }),
  );
  one(
    "bundle, not in the other repository",
    "team/app:bundle-key",
    byKey(keys.cosign, { source: { repository: "localhost:5055/team/signatures" } }),
  );
  one(
    "repository does not parse",
    "team/app:legacy-key",
    byKey(keys.cosign, { source: { repository: "Not A Repository" } }),
  );
  one("prefix of tags", "team/app:legacy-key", byKey(keys.cosign, { source: { tagPrefix: "x" } }));
  one("payload names another reference", "team/app:legacy-other-reference", byKey(keys.cosign));
  one("signature of another digest", "team/app:legacy-copied", byKey(keys.cosign));

  // Certificates.
  const certified = (id, certificate, name = "team/app:legacy-certificate-notlog", more = {}) =>
    one(`certificate, ${id}`, name, cosign({ certificate, ctlog: OFFLINE }), more);
  const value = (name) => ({ value: certificates[name] });
  for (const name of [
    "legacy-certificate",
    "legacy-certificate-notlog",
    "bundle-certificate",
    "legacy-key",
    "bundle-key",
  ]) {
    const more = name === "bundle-certificate" ? right("unverified", "pass", "success") : {};
    certified(
      `with its chain, ${name}`,
      { cert: value("own-leaf"), certChain: value("own-chain") },
      `team/app:${name}`,
      more,
    );
    certified(`alone, ${name}`, { cert: value("own-leaf") }, `team/app:${name}`, more);
    certified(`chain alone, ${name}`, { certChain: value("own-chain") }, `team/app:${name}`, more);
  }
  certified("with the root alone", { cert: value("own-leaf"), certChain: value("own-root") });
  certified("with another chain", { cert: value("own-leaf"), certChain: value("notation-root") });
  certified("another", { cert: value("notation-root") });
  certified(
    "expired, with its chain",
    { cert: value("own-expired-leaf"), certChain: value("own-chain") },
    "team/app:legacy-certificate-expired",
  );
  certified("expired, alone", { cert: value("own-expired-leaf") }, "team/app:legacy-certificate-expired");
  certified("no PEM", { cert: { value: "nothing" } }, undefined, REFUSED);
  certified("empty", {}, undefined, REFUSED);
  certified("base64", { cert: { value: Buffer.from(certificates["own-leaf"]).toString("base64") } });
  one(
    "certificate, by an expression",
    "team/app:legacy-certificate-notlog",
    cosign({
      certificate: { cert: { expression: "variables.cert" }, certChain: { expression: "variables.chain" } },
      ctlog: OFFLINE,
    }),
    {},
    {
      variables: [
        { name: "cert", expression: JSON.stringify(certificates["own-leaf"]) },
        { name: "chain", expression: JSON.stringify(certificates["own-chain"]) },
      ],
    },
  );

  // Counts of several attestors.
  const three = [byKey(keys.cosign), byKey(keys.other, { name: "b" }), keyless(ci, { name: "c" })];
  const counted = (id, name, rule, more) =>
    one(`count, ${id}`, name, three, more, { validations: [{ expression: rule, message: "no" }] });
  const countOf = (list, rest) =>
    `images.containers.all(i, verifyImageSignatures(i, [${list.split("").map((n) => `attestors.${n}`)}]) ${rest})`;
  for (const name of [
    "bundle-key",
    "legacy-two-keys",
    "legacy-key-and-keyless",
    "two-bundles",
    "both-forms",
    "unsigned",
  ]) {
    counted(`${name}: any of three`, `team/app:${name}`, countOf("abc", "> 0"));
    counted(`${name}: two of three`, `team/app:${name}`, countOf("abc", "== 2"));
    counted(`${name}: all of three`, `team/app:${name}`, countOf("abc", "== 3"));
    counted(`${name}: none of the last two`, `team/app:${name}`, countOf("bc", "== 0"));
  }
  counted("the same twice", "team/app:bundle-key", countOf("aa", "== 2"));
  counted(
    "each by itself, all",
    "team/app:legacy-two-keys",
    "images.containers.all(i, [attestors.a, attestors.b].all(a, verifyImageSignatures(i, [a]) > 0))",
  );
  counted(
    "each by itself, exists",
    "team/app:bundle-key",
    "images.containers.all(i, [attestors.b, attestors.a].exists(a, verifyImageSignatures(i, [a]) > 0))",
  );
  counted(
    "of the map",
    "team/app:bundle-key",
    "images.containers.all(i, attestors.exists(name, verifyImageSignatures(i, [attestors[name]]) > 0))",
    right("unverified", "pass", "success"),
  );
  counted(
    "by index",
    "team/app:bundle-key",
    "images.containers.all(i, verifyImageSignatures(i, [attestors['a']]) == 1)",
  );
  counted("no attestors", "team/app:bundle-key", countOf("", "== 0").replace("[attestors.]", "[]"));
  counted(
    "unknown among them",
    "team/app:bundle-key",
    "images.containers.all(i, verifyImageSignatures(i, [attestors.a, attestors.z]) > 0)",
  );
  counted(
    "sum",
    "team/app:legacy-two-keys",
    "images.containers.map(i, verifyImageSignatures(i, [attestors.a]) + verifyImageSignatures(i, [attestors.b])).sum() == 2",
  );
  counted("either form, bundle", "team/app:two-signers", countOf("ab", "== 2"), right("unverified", "pass", "success"));
  counted("either form, layer", "team/app:two-signers", countOf("b", "== 1"), right("unverified", "pass", "success"));
  const { pinned } = image("team/multi:child");
  for (const name of ["index", "child", "recursive", "legacy-index", "legacy-child", "legacy-recursive", "unsigned"])
    one(`index, ${name}`, `team/multi:${name}`, byKey(keys.cosign), {
      cosign: [cosignVerify(byKey(keys.cosign), image(`team/multi:${name}`), { keys })],
    });
  cases.push(asked("signature/index, by digest", { attestors: [byKey(keys.cosign)] }, pod(pinned)));
  cases.push(
    asked(
      "signature/SIGNED with an own rule",
      { attestors: [byKey(keys.cosign)], validations: [{ expression: SIGNED }] },
      pod(pinned),
    ),
  );

  // The notary project.
  for (const [path, { tagged }] of all)
    if (path.startsWith("vendor/tool:notation")) {
      const more = path.endsWith("cose") ? right(...UNSERVED) : path.endsWith("critical") ? right(...NONE) : {};
      cases.push(asked(`notary/${path}`, { attestors: [notary(certificates["notation-root"])] }, pod(tagged), more));
    }
  const wrong = (id, attestor, more) => one(`notary, ${id}`, "vendor/tool:notation-p256", attestor, more);
  wrong("no certificates", { name: "a", notary: {} }, REFUSED);
  wrong("no PEM", notary("nothing"), REFUSED);
  wrong("several roots", notary(certificates["notation-other-root"] + certificates["notation-root"]));
  wrong("the intermediate", notary(certificates["notation-intermediate"]));
  wrong("by a key", byKey(keys.cosign));
  one(
    "notary, certificates by an expression",
    "vendor/tool:notation-p256",
    { name: "a", notary: { certs: { expression: "variables.root" } } },
    {},
    { variables: [{ name: "root", expression: JSON.stringify(certificates["notation-root"]) }] },
  );
  one("notary, of a bundle", "team/app:bundle-key", notary(certificates["notation-root"]));
  return cases;
}

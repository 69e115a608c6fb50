/**
 * Mixed cases by chance, for a comparison of both engines beside the written ones. See README.md.
 *
 * node random-cases.mjs LAYOUT SEED COUNT > cases.jsonl
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { namesOf } from "./names.mjs";
import { byKey, cronJob, deployment, keyless, notary, PODS, pod, policy } from "./short.mjs";

const [layout, seed = "1", count = "200"] = process.argv.slice(2);
if (layout === undefined) {
  console.error("usage: node random-cases.mjs LAYOUT [SEED [COUNT]]");
  process.exit(2);
}
const text = (name) => readFileSync(join(layout, name), "utf8");
const { image, keys, certificates } = namesOf(JSON.parse(text("index.json")).manifests, text);

let state = Number(seed) >>> 0;
/** A number below `most` (mulberry32). */
function below(most) {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) % most;
}
const one = (list) => list[below(list.length)];
const chance = (of) => below(of) === 0;
const some = (list, most) => {
  const rest = [...list];
  return Array.from({ length: 1 + below(most) }, () => rest.splice(below(rest.length), 1)[0]).filter(Boolean);
};

const ISSUER = "http://localhost:5056";
const SCAN = "https://example.com/scan/v1";
const TYPES = [SCAN, "https://slsa.dev/provenance/v1", "https://cyclonedx.org/bom", "https://example.com/none"];
// Images about which both engines say the same by any attestor below.
const IMAGES = [
  "bundle-key",
  "bundle-key-other",
  "bundle-keyless",
  "bundle-keyless-github",
  "bundle-signed-scanned",
  "bundle-signed-failed",
  "legacy-key",
  "legacy-key-other",
  "legacy-keyless",
  "legacy-keyless-other",
  "legacy-two-keys",
  "legacy-key-and-keyless",
  "legacy-signed-scanned",
  "legacy-attested-key",
  "legacy-copied",
  "two-bundles",
  "both-forms",
  "unsigned",
]
  .map((name) => image(`team/app:${name}`))
  .concat(
    [
      "team/multi:index",
      "team/multi:child",
      "team/multi:keyless",
      "team/base:signed",
      "vendor/tool:notation-p256",
      "vendor/tool:notation-other",
      "vendor/tool:signed",
    ].map(image),
  );
const logged = { ctlog: undefined };
const ATTESTORS = {
  dev: byKey(keys.cosign, { name: "dev", ...logged }),
  vendor: byKey(keys.other, { name: "vendor", ...logged }),
  ci: keyless({ issuer: ISSUER, subject: "ci@example.org" }, { name: "ci", ...logged }),
  mails: keyless(
    { issuerRegExp: "^http://localhost:[0-9]+$", subjectRegExp: "@example\\.(org|com)$" },
    { name: "mails", ...logged },
  ),
  workflow: keyless(
    { issuer: `${ISSUER}/github`, subjectRegExp: "^https://github.com/example/" },
    { name: "workflow", ...logged },
  ),
  notary: notary(certificates["notation-root"], { name: "notary" }),
};

const reference = (found) => one([found.tagged, found.tagged, found.pinned, `${found.tagged}@${found.digest}`]);
const lists = ["images.containers", "images.containers + images.initContainers", "images.initContainers"];

function validation(names, attestations) {
  const attestors = `[${some(names, 3)
    .map((name) => `attestors.${name}`)
    .join(", ")}]`;
  const list = one(lists);
  const over = (body) => `(${list}).${one(["all", "all", "exists", "exists", "exists_one"])}(i, ${body})`;
  const compared = one(["> 0", "> 0", ">= 0", "== 1", ">= 2", "== 0", "< 3", "!= 1", "<= 2"]);
  const signed = `verifyImageSignatures(i, ${attestors}) ${compared}`;
  const cosigners = names.filter((name) => name !== "notary");
  const attested = (name) =>
    `verifyAttestationSignatures(i, '${name}', [${some(cosigners.length > 0 ? cosigners : ["dev"], 2)
      .map((one_) => `attestors.${one_}`)
      .join(", ")}]) > 0`;
  const name = one(attestations).name;
  const payload = `extractPayload(i, '${name}')`;
  const body = one([
    signed,
    signed,
    signed,
    attested(name),
    `${signed} && ${attested(name)}`,
    `${signed} || ${attested(name)}`,
    `${attested(name)} && has(${payload}.predicate)`,
    `${attested(name)} && ${payload}.predicate.result == 'passed'`,
    `!(${signed})`,
    `i.startsWith('localhost:5055/') && ${signed}`,
    `${attested(name)} ? ${payload}.predicateType == '${SCAN}' : ${signed}`,
    `getImageData(i).Digest != '' && ${signed}`,
  ]);
  const expression = one([
    over(body),
    over(body),
    over(body),
    `(${list}).map(i, verifyImageSignatures(i, ${attestors})).sum() ${compared}`,
    `size(${list}) > 0 && ${over(body)}`,
    "true",
  ]);
  return {
    expression,
    ...(chance(3) ? {} : { message: `rule ${below(100)}` }),
    ...(chance(5) && {
      messageExpression: one([
        "'images: ' + string(size(images.containers))",
        "object.metadata.name + '!'",
        "string(images.containers[3])",
      ]).replace("object.metadata.name + '!'", "string(object.metadata.name) + '!'"),
    }),
  };
}

function someCase(number) {
  const policies = Array.from({ length: chance(4) ? 2 : 1 }, (_, i) => {
    const names = some(Object.keys(ATTESTORS), 4);
    const attestations = some(TYPES, 2).map((type, n) => ({ name: `a${n}`, intoto: { type } }));
    const boolean = () => one([true, false, false, false, undefined]);
    const spec = {
      matchConstraints: { resourceRules: [PODS] },
      matchImageReferences: one([
        [{ glob: "*" }],
        [{ glob: "*" }],
        [{ glob: "localhost:5055/team/*" }],
        [{ glob: "localhost:*/app:*" }],
        [{ glob: "**{signed,key}*" }],
        [{ expression: "ref.contains('team/')" }],
        [{ expression: "!ref.endsWith('unsigned')" }],
        [{ glob: "*:legacy*" }, { glob: "*@*" }],
        undefined,
      ]),
      validationConfigurations: JSON.parse(
        JSON.stringify({
          mutateDigest: boolean(),
          verifyDigest: one([false, false, false, true]),
          required: boolean(),
        }),
      ),
      attestors: names.map((name) => ATTESTORS[name]),
      attestations,
      validations: Array.from({ length: 1 + below(2) }, () => validation(names, attestations)),
      ...(chance(3) && { variables: [{ name: "x", expression: "size(images.containers)" }] }),
      ...(chance(5) && {
        matchConditions: [
          {
            name: "c",
            expression: one(["true", "object.metadata.name != 'web'", "has(object.spec)", "object.nothing == 1"]),
          },
        ],
      }),
      ...(chance(4) && { failurePolicy: one(["Ignore", "Fail"]) }),
      ...(chance(4) && { validationActions: one([["Warn"], ["Audit"], ["Deny", "Audit"]]) }),
      ...(chance(4) && {
        auditAnnotations: [
          {
            key: "n",
            valueExpression: one([
              "string(size(images.containers))",
              "images.containers[0] + '.'",
              "''",
              "string(images.containers[5])",
            ]),
          },
        ],
      }),
      ...(chance(4) && { autogen: { podControllers: { controllers: one([[], ["deployments"], ["cronjobs"]]) } } }),
    };
    const namespaced = chance(6);
    return policy(JSON.parse(JSON.stringify(spec)), {
      name: `p${i}`,
      ...(namespaced && { namespace: one(["team", "team", "other"]) }),
    });
  });
  const found = some(IMAGES, 3);
  const [first, ...rest] = found.map(reference);
  const object = one([
    () => pod([first, ...rest]),
    () => pod([first, ...rest]),
    () => pod([first], { spec: { initContainers: rest.map((each, n) => ({ name: `i${n}`, image: each })) } }),
    () => deployment([first, ...rest]),
    () => cronJob([first, ...rest]),
  ])();
  const exceptions = chance(8)
    ? [
        {
          apiVersion: "policies.kyverno.io/v1",
          kind: "PolicyException",
          metadata: { name: "e", namespace: "team" },
          spec: {
            policyRefs: [{ name: "p0", kind: policies[0].kind }],
            ...(chance(2) && {
              matchConditions: [{ name: "c", expression: one(["true", "false", "object.metadata.name == 'web'"]) }],
            }),
            ...(chance(4) && { images: ["*"] }),
          },
        },
      ]
    : undefined;
  // The kinds have paths of their own: one of them a case.
  const kinds = new Set(policies.map(({ kind }) => kind));
  return {
    id: `random/${seed}/${number}`,
    policies: kinds.size === 1 ? policies : policies.slice(0, 1),
    ...(exceptions && { exceptions }),
    resources: [object],
    ...(chance(3) && { pin: true }),
  };
}

for (let number = 0; number < Number(count); number++) process.stdout.write(`${JSON.stringify(someCase(number))}\n`);

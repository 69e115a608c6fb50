/** Scenes that Kyverno's own tests play for ImageValidatingPolicies, made again over the golden images: each test has the name of its scene there. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openImageLayouts } from "../../../../src/fetch/image-layout.js";
import { ImageMetadata } from "../../../../src/fetch/image-metadata.js";
import { ImageTrustReader } from "../../../../src/fetch/image-trust.js";
import { sigstoreTrustRoot } from "../../../../src/fetch/index.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import type { Outcome, Review } from "../../../../src/policy/index.js";
import { FixedEntries } from "../../../../src/world/entries/fixed-entries.js";
import { openExternal } from "../../../../src/world/open-external.js";
import { checksWith } from "../../../fetch/helpers.js";
import { raw } from "../asked.js";
import { asked, creating, type EntryOptions, leftBy, pod, told } from "./signed-images.js";

const GOLDEN = fileURLToPath(new URL("../../../../../test/fixtures/images/", import.meta.url));
const golden = (file: string): string => readFileSync(`${GOLDEN}${file}`, "utf8");
const layouts = openImageLayouts([GOLDEN]);
const metadata = new ImageMetadata(layouts);
const checks = checksWith(sigstoreTrustRoot({ cacheDirectory: "unused", trustConfig: `${GOLDEN}trust.json` }));
const { data } = openExternal({
  readImage: (reference, signal) => metadata.read(reference, signal),
  askRegistries: () => new ImageTrustReader(layouts, checks),
  namespace: "policy-server",
  now: () => performance.now(),
});

const APP = "localhost:5055/team/app";
const TOOL = "localhost:5055/vendor/tool";
const SCAN = "https://example.com/scan/v1";
const SBOM = "application/vnd.cyclonedx+json";
const CYCLONE =
  "images.containers.map(image, extractPayload(image, attestations.sbom).bomFormat == 'CycloneDX').all(e, e)";
const ofAll = (call: string): string => `images.containers.map(image, ${call}).all(e, e > 0)`;

const dev: JsonObject = { name: "dev", cosign: { key: { data: golden("keys/cosign.pub") } } };
const vendor: JsonObject = { name: "vendor", notary: { certs: { value: golden("certificates/notation-root.pem") } } };

const rule = (group: string, resources: readonly string[], operations = ["CREATE", "UPDATE"]) => ({
  apiGroups: [group],
  apiVersions: ["v1"],
  operations,
  resources,
});
const PODS = rule("", ["pods"]);
const DEPLOYMENTS = rule("apps", ["deployments"]);
const LENIENT = { mutateDigest: false, verifyDigest: false, required: false };

/** A policy about pods with images of the golden registry, which the developers' key must have signed. */
const policy = (spec: JsonObject = {}, resource: JsonObject = PODS, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "namespace" in metadata ? "NamespacedImageValidatingPolicy" : "ImageValidatingPolicy",
  metadata: { name: "check", ...metadata },
  spec: {
    matchConstraints: { resourceRules: [resource] },
    matchImageReferences: [{ glob: "localhost:5055/*" }],
    validationConfigurations: LENIENT,
    attestors: [dev],
    validations: [{ expression: ofAll("verifyImageSignatures(image, [attestors.dev])"), message: "not signed" }],
    ...spec,
  },
});

/** A policy with a vendor's signature on the image, and on its bill of materials. */
const notary = (spec: JsonObject = {}): JsonObject =>
  policy({
    attestors: [vendor],
    attestations: [{ name: "sbom", referrer: { type: SBOM } }],
    validations: [
      { expression: ofAll("verifyImageSignatures(image, [attestors.vendor])"), message: "not signed" },
      {
        expression: ofAll("verifyAttestationSignatures(image, attestations.sbom, [attestors.vendor])"),
        message: "no sbom",
      },
      { expression: CYCLONE, message: "another sbom" },
    ],
    ...spec,
  });

const deployment = (
  image: string,
  labels: JsonObject = {},
  kind = "Deployment",
  replaces: JsonObject = {},
): JsonObject => {
  const template = { spec: { containers: [{ name: "c", image }] } };
  const metadata = { name: "d", namespace: "ns", labels };
  return { apiVersion: "apps/v1", kind, metadata, spec: { template }, ...replaces };
};
const cronJob = (image: string): JsonObject =>
  deployment(image, {}, "CronJob", {
    apiVersion: "batch/v1",
    spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: "c", image }] } } } } },
  });

const about = (object: JsonObject, more: JsonObject = {}) => {
  const [version = "", group = ""] = String(object.apiVersion).split("/").reverse();
  const kind = { group, version, kind: String(object.kind) };
  return creating(object, { kind, resource: { group, version, resource: `${kind.kind.toLowerCase()}s` }, ...more });
};

const evaluated = async (
  documents: readonly JsonObject[],
  question: Review,
  options: EntryOptions = {},
): Promise<Outcome> =>
  (await asked(documents, data.trust, question, { ...options, external: { images: data.images, ...options.external } }))
    .outcome;
const of = async (documents: readonly JsonObject[], object: JsonObject, options?: EntryOptions): Promise<string> =>
  told(await evaluated(documents, about(object), options));

const no = (reason: string): string => `deny: Policy check failed: ${reason}`;

describe("validation", () => {
  test("validation-rules/accept and reject", async () => {
    assert.equal(await of([policy()], pod(`${APP}:legacy-key`)), "allow");
    assert.equal(await of([policy()], pod(`${APP}:bundle-key`, `${APP}:legacy-key`)), "allow");
    assert.equal(await of([policy()], pod(`${APP}:legacy-key`, `${APP}:unsigned`)), no("not signed"));
    assert.equal(await of([policy()], pod(`${APP}:legacy-key-other`)), no("not signed"));
  });

  test("namespaced validation-rules/reject, elsewhere too", async () => {
    const own = policy({}, PODS, { namespace: "ns" });
    assert.equal(await of([own], pod(`${APP}:unsigned`)), no("not signed"));
    assert.equal(
      await of([policy({}, PODS, { namespace: "other" })], pod(`${APP}:unsigned`)),
      "skip: no resource rule matches",
    );
  });

  test("validation-actions/deny, audit, warn and none", async () => {
    const acting = async (...validationActions: readonly string[]) => {
      const outcome = await evaluated([policy({ validationActions })], about(pod(`${APP}:unsigned`)));
      return [outcome.verdict, outcome.warnings ?? [], (outcome.found ?? []).map(({ action }) => action)];
    };
    assert.deepEqual(await acting("Deny"), ["deny", [], []]);
    assert.deepEqual(await acting("Audit"), ["allow", [], ["Audit"]]);
    assert.deepEqual(await acting("Warn"), ["allow", ["Policy check failed: not signed"], ["Warn"]]);
    assert.deepEqual(await acting(), ["deny", [], []]);
  });

  test("cli: empty-message", async () => {
    const validations = [{ expression: ofAll("verifyImageSignatures(image, [attestors.dev])") }];
    assert.equal(
      await of([policy({ validations })], pod(`${APP}:unsigned`)),
      no("CEL expression validation failed at index 0"),
    );
  });

  test("match-conditions", async () => {
    const matchConditions = [{ name: "prod", expression: "object.metadata.?labels.?prod.orValue('') == 'true'" }];
    const labelled = {
      ...pod(`${APP}:unsigned`),
      metadata: { name: "web", namespace: "ns", labels: { prod: "true" } },
    };
    assert.equal(await of([policy({ matchConditions })], pod(`${APP}:unsigned`)), "skip: a match condition is false");
    assert.equal(await of([policy({ matchConditions })], labelled), no("not signed"));
  });

  test("cli: check-json", async () => {
    const json = policy({
      matchConstraints: undefined,
      evaluation: { mode: "JSON" },
      images: [{ name: "bar", expression: "[object.foo.bar]" }],
      validations: [
        {
          expression: "images.bar.map(image, verifyImageSignatures(image, [attestors.dev])).all(e, e > 0)",
          message: "not signed",
        },
      ],
    });
    const payload = async (bar: string) => told(await evaluated([json], raw({ foo: { bar } })));
    assert.equal(await payload(`${APP}:legacy-key`), "allow");
    assert.equal(await payload(`${APP}:unsigned`), no("not signed"));
    assert.equal(await payload("nginx"), "allow");
  });

  test("subresources/block-ephemeral-containers", async () => {
    const rules = rule("", ["pods", "pods/ephemeralcontainers"]);
    const validations = [
      { expression: "object.spec.?ephemeralContainers.orValue([]).size() == 0", message: "no debugging" },
    ];
    const debugged = pod(`${APP}:legacy-key`);
    const spec = {
      ...(debugged.spec as JsonObject),
      ephemeralContainers: [{ name: "debug", image: `${APP}:unsigned` }],
    };
    const question = about({ ...debugged, spec }, { operation: "UPDATE", subResource: "ephemeralcontainers" });
    assert.equal(told(await evaluated([policy({ validations }, rules)], question)), no("no debugging"));
  });
});

describe("autogen", () => {
  const none = { autogen: { podControllers: { controllers: [] } } };
  const some = (...controllers: readonly string[]) => ({ autogen: { podControllers: { controllers } } });

  test("autogen/should-autogen, none and should-not-autogen", async () => {
    assert.equal(await of([policy()], deployment(`${APP}:unsigned`)), no("not signed"));
    assert.equal(await of([policy()], cronJob(`${APP}:unsigned`)), no("not signed"));
    assert.equal(await of([policy()], deployment(`${APP}:legacy-key`)), "allow");
    assert.equal(await of([policy(none)], deployment(`${APP}:unsigned`)), "skip: no resource rule matches");
    const both = { ...PODS, resources: ["pods", "services"] };
    assert.equal(await of([policy({}, both)], deployment(`${APP}:unsigned`)), "skip: no resource rule matches");
  });

  test("autogen/autogen-deployments-cronjobs and autogen-deployments-statefulsets", async () => {
    const [jobs, sets] = [policy(some("deployments", "cronjobs")), policy(some("deployments", "statefulsets"))];
    const set = deployment(`${APP}:unsigned`, {}, "StatefulSet");
    assert.equal(await of([jobs], cronJob(`${APP}:unsigned`)), no("not signed"));
    assert.equal(await of([jobs], set), "skip: no resource rule matches");
    assert.equal(await of([sets], set), no("not signed"));
    assert.equal(await of([sets], cronJob(`${APP}:unsigned`)), "skip: no resource rule matches");
  });

  test("namespaced autogen/should-autogen", async () => {
    const own = policy({}, PODS, { namespace: "ns" });
    assert.equal(await of([own], deployment(`${APP}:unsigned`)), no("not signed"));
  });
});

describe("exceptions", () => {
  const exception = (condition: string, name = "check"): JsonObject => ({
    apiVersion: "policies.kyverno.io/v1",
    kind: "PolicyException",
    metadata: { name: "e", namespace: "ns" },
    spec: {
      policyRefs: [{ name, kind: "ImageValidatingPolicy" }],
      matchConditions: [{ name: "name", expression: condition }],
    },
  });
  const skipped = "skip: rule is skipped due to policy exception: ns/e";

  test("exceptions/regular, wrong-exception, and cli: with-cel-exceptions", async () => {
    const exempt = exception("object.metadata.name == 'web'");
    assert.equal(await of([policy(), exempt], pod(`${APP}:unsigned`)), skipped);
    const other = { ...pod(`${APP}:unsigned`), metadata: { name: "other", namespace: "ns" } };
    assert.equal(await of([policy(), exempt], other), no("not signed"));
    assert.equal(await of([policy(), exception("true", "another")], pod(`${APP}:unsigned`)), no("not signed"));
  });

  test("exceptions/autogen", async () => {
    const exempt = exception("object.metadata.name == 'd'");
    assert.equal(await of([policy(), exempt], deployment(`${APP}:unsigned`)), skipped);
  });
});

describe("digests", () => {
  const strict = (spec: JsonObject = {}) => policy({ validationConfigurations: {}, ...spec });
  const changed = { allowedToMutate: true };
  const imagesOf = (object: unknown): unknown =>
    ((object as JsonObject | undefined)?.spec as JsonObject | undefined)?.containers;

  test("mutate-digest", async () => {
    const outcome = await evaluated([strict()], about(pod(`${APP}:legacy-key`)), changed);
    assert.deepEqual(imagesOf(leftBy(outcome)), [
      {
        name: "c0",
        image: `${APP}:legacy-key@sha256:f98ebb883267cef87d682213a978780df5831a7c326c12e81e48829186074dfd`,
      },
    ]);
    const template = leftBy(await evaluated([strict()], about(cronJob(`${APP}:legacy-key`)), changed));
    assert.match(JSON.stringify(template), /legacy-key@sha256:f98ebb88/);
  });

  test("mutate-digest-disabled", async () => {
    const disabled = strict({ validationConfigurations: { mutateDigest: false, verifyDigest: false } });
    const outcome = await evaluated([disabled], about(pod(`${APP}:legacy-key`)), changed);
    assert.deepEqual([told(outcome), leftBy(outcome)], ["allow", undefined]);
    const wanting = strict({ validationConfigurations: { mutateDigest: false } });
    assert.equal(
      await of([wanting], pod(`${APP}:legacy-key`), changed),
      no(`image ${APP}:legacy-key does not have a digest`),
    );
  });

  test("mutate-then-validate", async () => {
    assert.equal(await of([strict()], pod(`${APP}:legacy-key`), changed), "allow");
    assert.equal(await of([strict()], pod(`${APP}:unsigned`), changed), no("not signed"));
    const mutating: JsonObject = {
      apiVersion: "policies.kyverno.io/v1",
      kind: "MutatingPolicy",
      metadata: { name: "own-registry" },
      spec: {
        matchConstraints: { resourceRules: [PODS] },
        mutations: [
          {
            patchType: "JSONPatch",
            jsonPatch: {
              expression: `[JSONPatch{op: "replace", path: "/spec/containers/0/image", value: "${APP}:legacy-key"}]`,
            },
          },
        ],
      },
    };
    const both = await evaluated([mutating, strict()], about(pod("nginx")), changed);
    assert.match(JSON.stringify(imagesOf(leftBy(both))), /legacy-key@sha256:f98ebb88/);
  });

  test("security/forged-verification-annotation", async () => {
    const outcomes = JSON.stringify({
      check: { name: "check", ruleType: "ImageVerify", message: "success", status: "pass" },
    });
    const annotations = { "kyverno.io/image-verification-outcomes": outcomes };
    const forged = { ...pod(`${APP}:unsigned`), metadata: { name: "web", namespace: "ns", annotations } };
    assert.equal(await of([policy()], forged), no("not signed"));
    assert.equal(await of([policy()], forged, changed), no("not signed"));
  });
});

describe("attestations", () => {
  test("standard/notary-basic, and cli: sample-policy", async () => {
    assert.equal(await of([notary()], pod(`${TOOL}:notation-sbom`)), "allow");
    assert.equal(await of([notary()], pod(`${TOOL}:unsigned`)), no("not signed"));
    assert.equal(await of([notary()], pod(`${TOOL}:notation-other`)), no("not signed"));
    assert.equal(await of([notary()], pod(`${TOOL}:notation-sbom-unsigned`)), no("no sbom"));
  });

  test("standard/notary-configmap-cert", async () => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "keys", namespace: "ns" } };
    const from = notary({
      variables: [{ name: "cm", expression: 'resource.get("v1", "configmaps", object.metadata.namespace, "keys")' }],
      attestors: [{ name: "vendor", notary: { certs: { expression: "variables.cm.data.certificate" } } }],
    });
    const holding = (file: string) => ({ ...map, data: { certificate: golden(`certificates/${file}`) } });
    assert.equal(await of([from, holding("notation-root.pem")], pod(`${TOOL}:notation-sbom`)), "allow");
    assert.equal(await of([from, holding("notation-other-root.pem")], pod(`${TOOL}:notation-sbom`)), no("not signed"));
    assert.match(
      await of([from, { ...map, data: {} }], pod(`${TOOL}:notation-sbom`)),
      /^error: .*no such key: certificate/,
    );
  });

  test("standard/cosign-attestation-extract-cache-hit", async () => {
    const cosign = {
      keyless: { identities: [{ issuer: "http://localhost:5056", subject: "ci@example.org" }] },
      ctlog: { insecureIgnoreSCT: true },
    };
    const scanned = policy({
      attestors: [{ name: "ci", cosign }],
      attestations: [{ name: "scan", intoto: { type: SCAN } }],
      validations: [
        {
          expression: ofAll("verifyAttestationSignatures(image, attestations.scan, [attestors.ci])"),
          message: "no scan",
        },
        {
          expression:
            "images.containers.all(image, extractPayload(image, attestations.scan).predicate.result == 'passed')",
        },
      ],
    });
    assert.equal(await of([scanned], pod(`${APP}:bundle-attested-keyless`)), "allow");
    assert.equal(await of([scanned], pod(`${APP}:bundle-attested-keyless`)), "allow");
    assert.equal(await of([scanned], pod(`${APP}:bundle-attested-key`)), no("no scan"));
  });
});

describe("context", () => {
  const onDeployments = (spec: JsonObject) => policy(spec, DEPLOYMENTS);

  test("context/configmap, resource, and cli: test-context-resource-ivpol", async () => {
    const map = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "policy-cm", namespace: "ns" },
      data: { env: "prod" },
    };
    const own = onDeployments({
      variables: [
        { name: "cm", expression: 'resource.get("v1", "configmaps", object.metadata.namespace, "policy-cm")' },
      ],
      validations: [
        { expression: "object.metadata.?labels.?env.orValue('') == variables.cm.data.env", message: "not prod" },
      ],
    });
    assert.equal(await of([own, map], deployment(`${APP}:unsigned`, { env: "prod" })), "allow");
    assert.equal(await of([own, map], deployment(`${APP}:unsigned`, { env: "dev" })), no("not prod"));
  });

  test("context/globalreference", async () => {
    const own = onDeployments({
      variables: [{ name: "count", expression: 'globalContext.Get("deployments", "count")' }],
      validations: [
        { expression: "variables.count == 0", messageExpression: "'there are ' + string(variables.count)" },
      ],
    });
    const entries = new FixedEntries(new Map([["deployments", { count: 1 }]]));
    assert.equal(await of([own], deployment(`${APP}:unsigned`), { external: { entries } }), no("there are 1"));
  });

  test("context/imagedata/imagereference", async () => {
    const own = onDeployments({
      variables: [
        { name: "list", expression: "object.spec.template.spec.containers.map(e, parseImageReference(e.image))" },
      ],
      validations: [
        {
          expression: 'variables.list.all(i, i.registry() == "localhost:5055" && !i.containsDigest())',
          message: "no tag",
        },
      ],
    });
    assert.equal(await of([own], deployment(`${APP}:unsigned`)), "allow");
    assert.equal(await of([own], deployment("nginx")), no("no tag"));
  });

  test("context/imagedata/image-data and image-data-arch, with both functions", async () => {
    for (const call of [
      "image.GetMetadata(object.spec.containers[0].image)",
      "getImageData(object.spec.containers[0].image)",
    ]) {
      const own = policy({
        variables: [{ name: "data", expression: call }],
        validations: [
          {
            expression: 'variables.data.config.architecture == "s390x"',
            messageExpression: "'not for ' + variables.data.config.architecture",
          },
        ],
      });
      assert.equal(await of([own], pod(`${APP}:unsigned`)), no("not for amd64"));
    }
  });
});

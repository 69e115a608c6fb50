/** ImageValidatingPolicies as a server answers with them; the words are those of Kyverno 1.19.1. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PolicyResource } from "../../../../src/kinds/kyverno/resource.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { NO_EXTERNAL } from "../../../../src/world/external.js";
import { context, setOf, world } from "../asked.js";
import { asked, attestor, creating, digest, leftBy, pod, policy, registry, signedBy, told } from "./signed-images.js";

const A = { digest: digest("a"), signers: ["dev"] };
const B = { digest: digest("b"), signers: ["dev", "vendor"] };
const NONE = { digest: digest("0") };
const IMAGES = { "ex.io/app:1": A, "ex.io/bin:1": B, "ex.io/none:1": NONE };

/** The answer of policies about a pod with these images. */
const answer = async (policies: readonly JsonObject[], ...images: readonly string[]) =>
  told((await asked(policies, registry(IMAGES), creating(pod(...images)))).outcome);

/** The answer to an expression, as text: `yes` or the message or error. */
async function found(expression: string, spec: JsonObject = {}, image = "ex.io/app:1"): Promise<string> {
  const own = policy({
    validationConfigurations: { verifyDigest: false, required: false },
    validations: [{ expression, message: "no" }],
    ...spec,
  });
  return (await answer([own], image))
    .replace("Policy p failed: ", "")
    .replace("Policy p error: failed to evaluate policy: ", "");
}

describe("an ImageValidatingPolicy", () => {
  test("allows what is signed and denies what is not", async () => {
    assert.equal(await answer([policy()], "ex.io/app:1"), "allow");
    assert.equal(await answer([policy()], "ex.io/none:1"), "deny: Policy p failed: not signed");
    assert.equal(await answer([policy()], "ex.io/app:1", "ex.io/none:1"), "deny: Policy p failed: not signed");
  });

  test("tells why in the record of the decision", async () => {
    const { outcome } = await asked([policy()], registry(IMAGES), creating(pod("ex.io/none:1")));
    assert.equal(outcome.detail, "ex.io/none:1 is not verified by dev: no signature fits the key");
  });

  test("counts attestors", async () => {
    const of = (image: string) => `verifyImageSignatures("${image}", [attestors.dev, attestors.vendor])`;
    assert.equal(
      await found(`${of("ex.io/app:1")} == 1 && ${of("ex.io/bin:1")} == 2 && ${of("ex.io/none:1")} == 0`),
      "allow",
    );
  });

  test("is about images that match", async () => {
    const glob = { matchImageReferences: [{ glob: "ex.io/app*" }] };
    assert.equal(await answer([policy(glob)], "ex.io/none:1", "ex.io/app:1"), "allow");
    assert.equal(await answer([policy(glob)], "ex.io/gone:1"), "allow");
    const by = (expression: string) => ({ matchImageReferences: [{ expression }] });
    assert.equal(
      await answer([policy(by("ref.contains('none')"))], "ex.io/none:1"),
      "deny: Policy p failed: not signed",
    );
    assert.equal(await answer([policy(by("!ref.contains('none')"))], "ex.io/none:1"), "allow");
    assert.match(
      await answer([policy(by("ref.split('/')[7] == ''"))], "ex.io/app:1"),
      /^error: Policy p error: failed to evaluate policy: /,
    );
    assert.equal(await found('verifyImageSignatures("ex.io/bin:1", [attestors.dev]) == 0', glob), "allow");
    assert.equal(
      await found('verifyAttestationSignatures("ex.io/bin:1", "unknown", [attestors.dev]) == 0', glob),
      "allow",
    );
  });

  test("is an error where an image is not there, whatever its validations say", async () => {
    const failed =
      "error: Policy p error: failed to evaluate policy: image ex.io/gone:1: the registry has no such manifest";
    assert.equal(await answer([policy()], "ex.io/gone:1"), failed);
    assert.equal(await answer([policy({ validations: [{ expression: "true" }] })], "ex.io/gone:1"), failed);
  });

  test("is an error where an attestor can't be asked about, never unsigned", async () => {
    const trust = registry(IMAGES, { failing: ["vendor"] });
    const validations = [
      { expression: "images.containers.all(i, verifyImageSignatures(i, [attestors.dev, attestors.vendor]) > 0)" },
    ];
    const { outcome } = await asked([policy({ validations })], trust, creating(pod("ex.io/app:1")));
    assert.equal(
      told(outcome),
      "error: Policy p error: failed to evaluate policy: attestor vendor can't be checked for image ex.io/app:1: the registry does not answer",
    );
  });

  test("wants digests by default", async () => {
    const strict = policy({ validationConfigurations: {} });
    assert.equal(
      await answer([strict], "ex.io/app:1"),
      "deny: Policy p failed: image ex.io/app:1 does not have a digest",
    );
    assert.equal(await answer([strict], `ex.io/app@${digest("a")}`), "allow");
    assert.equal(await answer([strict], `ex.io/app:1@${digest("a")}`), "allow");
    assert.match(
      await answer([strict], "ex.io/A B"),
      /failed to parse image reference ex.io\/A B: could not parse reference/,
    );
  });

  test("wants each image to be checked by some policy of the entry, also by a later one", async () => {
    const idle = policy({ validations: [{ expression: "true" }] }, "a-idle");
    const unverified = "image ex.io/app:1 is not verified: no policy performed a signature or attestation check on it";
    assert.equal(await answer([idle], "ex.io/app:1"), `deny: Policy a-idle failed: ${unverified}`);
    assert.equal(await answer([idle, policy({}, "b-checks")], "ex.io/app:1"), "allow");
    const lenient = policy(
      { validations: [{ expression: "images.containers.all(i, verifyImageSignatures(i, [attestors.vendor]) >= 0)" }] },
      "b-lenient",
    );
    assert.equal(
      await answer([idle, lenient], "ex.io/app:1"),
      "deny: Policy a-idle failed: image ex.io/app:1 failed signature or attestation verification; " +
        "Policy b-lenient failed: image ex.io/app:1 failed signature or attestation verification",
    );
    const optional = policy({
      validations: [{ expression: "true" }],
      validationConfigurations: { verifyDigest: false, required: false },
    });
    assert.equal(await answer([optional], "ex.io/app:1"), "allow");
    // An empty list of attestors checks nothing.
    const none = policy({
      validations: [{ expression: "images.containers.all(i, verifyImageSignatures(i, []) == 0)" }],
    });
    assert.equal(await answer([none], "ex.io/app:1"), `deny: Policy p failed: ${unverified}`);
  });

  test("has messages, with expressions", async () => {
    const says = (validation: JsonObject) => policy({ validations: [{ expression: "false", ...validation }] });
    assert.equal(
      await answer([says({})], "ex.io/app:1"),
      "deny: Policy p failed: CEL expression validation failed at index 0",
    );
    const messageExpression = "'no: ' + images.containers[0] + ' by ' + attestations.sbom";
    const attestations = [{ name: "sbom", intoto: { type: "t" } }];
    assert.equal(
      await answer(
        [policy({ attestations, validations: [{ expression: "false", messageExpression }] })],
        "ex.io/app:1",
      ),
      "deny: Policy p failed: no: ex.io/app:1 by sbom",
    );
  });

  test("knows conditions and variables", async () => {
    const condition = { matchConditions: [{ name: "prod", expression: "object.metadata.name == 'other'" }] };
    assert.equal(await answer([policy(condition)], "ex.io/none:1"), "skip: a match condition is false");
    const variables = [
      { name: "who", expression: "[attestors.dev]" },
      { name: "lists", expression: "images.containers" },
    ];
    assert.equal(
      await found("variables.lists.all(i, verifyImageSignatures(i, variables.who) == 1)", { variables }),
      "allow",
    );
  });

  test("evaluates an attestor's expressions when it is used", async () => {
    const own = (expression: string) => ({
      attestors: [attestor("dev"), { name: "vendor", cosign: { key: { expression } } }],
    });
    const broken = own("object.spec.nothing.key");
    assert.equal(
      await found("images.containers.all(i, verifyImageSignatures(i, [attestors.dev]) == 1)", broken),
      "allow",
    );
    assert.equal(
      await found("images.containers.all(i, verifyImageSignatures(i, [attestors.vendor]) == 1)", broken),
      "error: failed to convert key in compiled attestor: vendor, error: failed to evaluate compiled attestor: vendor, error: no such key: nothing",
    );
    assert.equal(
      await found(
        "verifyImageSignatures('ex.io/bin:1', [attestors.vendor]) == 1",
        own("'key of ' + images.containers[0]"),
      ),
      "allow",
    );
  });

  test("is an error where an attestor's expression gives an empty text, which would mean any signer", async () => {
    const identities = [{ issuer: "https://issuer", subjectExpression: "''" }];
    for (const cosign of [{ key: { expression: "''" } }, { keyless: { identities } }])
      assert.match(
        await found("verifyImageSignatures('ex.io/bin:1', [attestors.vendor]) == 0", {
          attestors: [{ name: "vendor", cosign }],
        }),
        /error: failed to convert [ \w]+ in compiled attestor: vendor, error: an expression gives an empty text$/,
      );
  });

  test("refuses what is no attestor", async () => {
    assert.match(
      await found("verifyImageSignatures('ex.io/app:1', ['dev']) > 0"),
      /unsupported native conversion from string to 'v1alpha1.Attestor'/,
    );
    assert.match(await found("verifyImageSignatures('ex.io/app:1', [attestors.nobody]) > 0"), /no such key: nobody/);
  });
});

describe("questions to registries", () => {
  test("are put side by side, and once", async () => {
    const trust = registry(IMAGES, { slow: true });
    const policies = [policy({}, "one"), policy({ validations: [{ expression: signedBy("dev", "vendor") }] }, "two")];
    const { outcome } = await asked(policies, trust, creating(pod("ex.io/bin:1", "ex.io/app:1", "ex.io/bin:1")));
    assert.equal(told(outcome), "deny: Policy two failed: CEL expression validation failed at index 0");
    assert.deepEqual(trust.asked, [
      "digest ex.io/bin:1",
      "digest ex.io/app:1",
      "verdict ex.io/bin:1 dev",
      "verdict ex.io/app:1 dev",
      "verdict ex.io/bin:1 vendor",
      "verdict ex.io/app:1 vendor",
    ]);
  });

  test("are answered in the same turn where answers are known", () => {
    const external = { ...NO_EXTERNAL, trust: registry(IMAGES) };
    const set = setOf([policy() as unknown as PolicyResource], { world: world({ external }) });
    const outcome = set.evaluate(creating(pod("ex.io/app:1")), context());
    assert.ok(!(outcome instanceof Promise));
    assert.equal(told(outcome), "allow");
  });

  test("about a tag have one answer for all policies of a request, whatever their log-ins", async () => {
    const digests = [digest("a"), digest("b")];
    const trust = { ...registry(IMAGES), digest: () => digests.shift() ?? digest("c") };
    const own = policy({ credentials: { secrets: ["log-in"] } }, "two");
    const { outcome } = await asked([policy({}, "one"), own], trust, creating(pod("ex.io/app:1")));
    assert.match(
      told(outcome),
      /^error: Policy two error: .*the tag of the image has moved to another digest meanwhile/,
    );
  });
});

describe("the images", () => {
  const deployment = (template: JsonObject): JsonObject => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", namespace: "ns" },
    spec: { template },
  });
  const kind = { group: "apps", version: "v1", kind: "Deployment" };
  const resource = { group: "apps", version: "v1", resource: "deployments" };

  test("are those of pods' controllers, too", async () => {
    const about = (image: string) =>
      creating(deployment({ spec: { containers: [], initContainers: [{ image }] } }), { kind, resource });
    const validations = [
      { expression: "images.initContainers.all(i, verifyImageSignatures(i, [attestors.dev]) > 0)", message: "no" },
    ];
    const of = async (image: string) =>
      told((await asked([policy({ validations })], registry(IMAGES), about(image))).outcome);
    assert.equal(await of("ex.io/app:1"), "allow");
    assert.equal(await of("ex.io/none:1"), "deny: Policy p failed: no");
  });

  test("are those of custom controllers' pods, whose tags stay", async () => {
    const own = policy({
      autogen: { podControllers: { controllers: ["jobsets.v1alpha2.jobset.x-k8s.io"] } },
      validationConfigurations: { verifyDigest: false },
    });
    const jobSet = (...images: readonly string[]) => ({
      apiVersion: "jobset.x-k8s.io/v1alpha2",
      kind: "JobSet",
      metadata: { name: "j", namespace: "ns" },
      spec: { replicatedJobs: images.map((image) => ({ template: { spec: { containers: [{ name: "c", image }] } } })) },
    });
    const custom = {
      kind: { group: "jobset.x-k8s.io", version: "v1alpha2", kind: "JobSet" },
      resource: { group: "jobset.x-k8s.io", version: "v1alpha2", resource: "jobsets" },
    };
    const of = async (...images: readonly string[]) =>
      (await asked([own], registry(IMAGES), creating(jobSet(...images), custom), { allowedToMutate: true })).outcome;
    const good = await of("ex.io/app:1", "ex.io/bin:1");
    assert.deepEqual([told(good), leftBy(good)], ["allow", undefined]);
    assert.match(
      told(await of("ex.io/app:1", "ex.io/none:1")),
      /^deny: Policy p failed: not signed \(pod template at spec\.replicatedJobs\[1\]/,
    );
    assert.match(
      told(await of("ex.io/gone:1")),
      /^error: .*pod template at spec\.replicatedJobs\[0\].*: image ex\.io\/gone:1: /,
    );
  });

  test("of a deleted object are unknown, as in Kyverno", async () => {
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["pods"] };
    const own = policy({ matchConstraints: { resourceRules: [rule] } });
    const deleting = creating(pod(), { operation: "DELETE", object: undefined, oldObject: pod("ex.io/app:1") });
    const { outcome } = await asked([own], registry(IMAGES), deleting, { allowedToMutate: true });
    assert.equal(told(outcome), "error: Policy p error: failed to evaluate policy: no such key: spec");
  });

  test("are those of the policy's own extractors", async () => {
    const images = [
      { name: "containers", expression: "['ex.io/bin:1']" },
      { name: "side", expression: "object.metadata.?annotations.?side.orValue('') == '' ? ['ex.io/none:1'] : []" },
    ];
    assert.equal(
      await found("images.containers == ['ex.io/bin:1'] && images.side.size() == 1 && images.initContainers == []", {
        images,
      }),
      "allow",
    );
    assert.match(
      await found("true", { images: [{ name: "x", expression: "[object.metadata]" }] }),
      /^error: unsupported type conversion from 'map' to string/,
    );
  });

  test("are an error where they are none", async () => {
    const odd = { ...pod(), spec: { containers: [{ name: "c" }] } };
    const { outcome } = await asked([policy()], registry(IMAGES), creating(odd));
    assert.equal(told(outcome), "error: Policy p error: failed to evaluate policy: no such key: image");
  });
});

describe("attestations", () => {
  const statements = { "https://t/sbom": { signers: ["dev"], payload: { predicate: { parts: 3 } } } };
  const trust = registry({ "ex.io/app:1": { ...A, statements, artifacts: { "sbom/x": { bomFormat: "CycloneDX" } } } });
  const attestations = [
    { name: "sbom", intoto: { type: "https://t/sbom" } },
    { name: "other", intoto: { type: "https://t/other" } },
    { name: "artifact", referrer: { type: "sbom/x" } },
  ];
  const of = async (...expressions: readonly string[]) => {
    const validations = expressions.map((expression) => ({ expression, message: "no" }));
    return told((await asked([policy({ attestations, validations })], trust, creating(pod("ex.io/app:1")))).outcome);
  };
  const verify =
    "images.containers.all(i, verifyAttestationSignatures(i, attestations.sbom, [attestors.dev, attestors.vendor]) == 1)";

  test("are counted, and their content is read after that", async () => {
    assert.equal(await of(verify, "extractPayload('ex.io/app:1', attestations.sbom).predicate.parts == 3.0"), "allow");
    assert.match(
      await of("extractPayload('ex.io/app:1', attestations.sbom) != null"),
      /failed to get payload: .* before verifying/,
    );
    assert.match(
      await of("verifyAttestationSignatures('ex.io/app:1', attestations.other, [attestors.dev]) > 0"),
      /^deny: Policy p failed: no/,
    );
    assert.match(
      await of("verifyAttestationSignatures('ex.io/app:1', 'none', [attestors.dev]) > 0"),
      /attestation not found in policy: none/,
    );
  });

  test("that are artifacts are read without a check, and cosign signs none", async () => {
    assert.equal(await of(verify, "extractPayload('ex.io/app:1', 'artifact').bomFormat == 'CycloneDX'"), "allow");
    assert.match(await of("verifyAttestationSignatures('ex.io/app:1', 'artifact', [attestors.dev]) == 1"), /^deny/);
  });
});

describe("tags", () => {
  const strict = policy({ validationConfigurations: {} });

  test("are replaced by digests where the entry may change objects, before it judges", async () => {
    const trust = registry(IMAGES);
    const { outcome, said } = await asked([strict], trust, creating(pod("ex.io/app:1", `ex.io/bin@${digest("b")}`)), {
      allowedToMutate: true,
    });
    assert.equal(told(outcome), "allow");
    assert.deepEqual(said, []);
    assert.deepEqual(leftBy(outcome), pod(`ex.io/app:1@${digest("a")}`, `ex.io/bin@${digest("b")}`));
    assert.ok(trust.asked.includes(`verdict ex.io/app:1@${digest("a")} dev`));
  });

  test("are refused elsewhere, which is said when the entry is loaded", async () => {
    const { outcome, said } = await asked([strict], registry(IMAGES), creating(pod("ex.io/app:1")));
    assert.equal(told(outcome), "deny: Policy p failed: image ex.io/app:1 does not have a digest");
    assert.equal(said.length, 1);
    assert.match(
      said.join(""),
      /images with tags are refused, since tags are not replaced by digests: write allowedToMutate: true/,
    );
    const member = await asked([strict], registry(IMAGES), creating(pod("ex.io/app:1")), { id: "group/member" });
    assert.match(member.said.join(""), /members of a group never mutate: write verifyDigest: false/);
    const json = policy({ validationConfigurations: {}, evaluation: { mode: "JSON" } });
    const payloads = await asked([json], registry(IMAGES), creating(pod("ex.io/app:1")), { allowedToMutate: true });
    assert.match(payloads.said.join(""), /JSON payloads are never changed: write verifyDigest: false/);
    assert.deepEqual((await asked([policy()], registry(IMAGES), creating(pod("ex.io/app:1")))).said, []);
  });

  test("of unknown images are an error, and nothing is changed", async () => {
    const { outcome } = await asked([strict], registry(IMAGES), creating(pod("ex.io/app:1", "ex.io/gone")), {
      allowedToMutate: true,
    });
    assert.equal(
      told(outcome),
      "error: Policy p error: failed to update digest: failed to resolve digest for image ex.io/gone:latest: the registry has no such manifest",
    );
    assert.equal(leftBy(outcome), undefined);
  });

  test("stay where the policy is not about the image, or is exempted", async () => {
    const some = policy({ validationConfigurations: {}, matchImageReferences: [{ glob: "ex.io/app*" }] });
    const allowed = { allowedToMutate: true };
    const left = async (documents: readonly JsonObject[], ...images: readonly string[]) => {
      const { outcome } = await asked(documents, registry(IMAGES), creating(pod(...images)), allowed);
      return [told(outcome), leftBy(outcome)];
    };
    assert.deepEqual(await left([some], "ex.io/none:1"), ["allow", undefined]);
    const exemption = (more: JsonObject) => ({
      apiVersion: "policies.kyverno.io/v1",
      kind: "PolicyException",
      metadata: { name: "e", namespace: "ns" },
      spec: { policyRefs: [{ name: "p", kind: "ImageValidatingPolicy" }], ...more },
    });
    assert.deepEqual(await left([strict, exemption({ reportResult: "pass" })], "ex.io/none:1"), [
      "skip: rule is skipped due to policy exception: ns/e",
      undefined,
    ]);
    const partly = await left([strict, exemption({ images: ["ex.io/none:1"] })], "ex.io/none:1");
    assert.equal(partly[0], "deny: Policy p failed: not signed");
  });

  test("are never replaced by what an annotation says (kyverno#16336)", async () => {
    const object = pod("ex.io/none:1");
    const annotations = {
      "kyverno.io/image-verification-outcomes": JSON.stringify({
        p: { name: "p", ruleType: "ImageVerify", message: "success", status: "pass" },
      }),
      "kyverno.io/verify-images": JSON.stringify({ "ex.io/none:1": "pass" }),
    };
    const forged = { ...object, metadata: { name: "web", namespace: "ns", annotations } };
    for (const allowedToMutate of [true, false]) {
      const { outcome } = await asked([policy()], registry(IMAGES), creating(forged), { allowedToMutate });
      assert.equal(told(outcome), "deny: Policy p failed: not signed");
    }
  });
});

/**
 * What a policy of every kind must do when the evaluator asks it. A kind that is added gets an entry in KINDS, nothing else. The object's
 * annotation `chaos/mode` says what each policy does: accept, reject, or trap.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import { CLIENT_GONE } from "../../src/policy/evaluate-in-time.js";
import type { EvaluationContext, Outcome, Policy, Review } from "../../src/policy/index.js";
import { createEvaluator, type Evaluator } from "../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import type { Verdict } from "../../src/policy/served/verdict.js";
import { certificateRequest } from "../kinds/certificate-request-policy/requests.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { ask } from "../support/asking.js";
import { emptyModule } from "../support/empty-module.js";
import { admission } from "../wasm/support.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "kinds-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const MODE = "object.metadata.annotations['chaos/mode']";
const SPEC = `
  validations:
    - expression: "${MODE} != 'reject'"
      message: chaos says no
    - expression: "${MODE} != 'trap' || object.nope"`;

/** Nobody is allowed anything, as the cluster says; it is asked again about each object. */
const ALLOWED = "authorizer.group('').resource('pods').name(object.metadata.name).check('get').allowed()";
const WAITING = SPEC.replace(`"${MODE}`, `"${ALLOWED} || ${MODE}`);

/** An entry's value in policies.yaml for each kind that can accept, reject and fail. */
const KINDS: Readonly<Record<string, string>> = {
  "ValidatingAdmissionPolicy document": `{ resource: ${join(folder, "policy.yaml")} }`,
  "MutatingAdmissionPolicy document": `{ resource: ${join(folder, "mutating.yaml")}, allowedToMutate: true }`,
  "Kyverno's ValidatingPolicy": `{ resource: ${join(folder, "kyverno.yaml")} }`,
  "Kyverno's ImageValidatingPolicy": `{ resource: ${join(folder, "kyverno-images.yaml")} }`,
  "Kyverno's MutatingPolicy": `{ resource: ${join(folder, "kyverno-mutating.yaml")}, allowedToMutate: true }`,
  CertificateRequestPolicy: `{ resource: ${join(folder, "requests.yaml")}, certificateRequests: { binding: assume-bound } }`,
  "inline CEL": `\n  cel:${SPEC.replaceAll("\n", "\n  ")}`,
  "inline CEL that waits for a cluster": `\n  cel:${WAITING.replaceAll("\n", "\n  ")}`,
  "cel-module": `
  module: ${join(folder, "cel.wasm")}
  settings:${SPEC.replaceAll("\n", "\n  ")}`,
  extism: "{ module: test/fixtures/chaos/extism.wasm }",
  "kubewarden-wapc": "{ module: test/fixtures/chaos/wapc.wasm }",
  wasi: "{ module: test/fixtures/chaos/wasi.wasm }",
  // The policy has no rule for other modes, so that there is no answer.
  opa: "{ module: test/vectors/rego/opa.wasm, executionMode: opa }",
  gatekeeper: "{ module: test/vectors/rego/gatekeeper.wasm, executionMode: gatekeeper, settings: { exempt: [] } }",
  group: `
  expression: inner()
  message: chaos says no
  policies:
    inner: { cel: {${SPEC.replaceAll("\n", " ")
      .replaceAll("validations:", "validations: [")
      .replaceAll(/- expression/g, "{expression")
      .replaceAll(" message: chaos says no ", ", message: chaos says no }, ")} } ] } }`,
};

const yaml = (entry: string): string => `
p: ${entry}
monitored: ${entry.replace(/^\{/, "{ policyMode: monitor,").replace(/^\n {2}/, "\n  policyMode: monitor\n  ")}
negated: { expression: "!p()", message: negated says no, policies: { p: { policy: p } } }
plain: { expression: "p()", message: plain says no, policies: { p: { policy: p } } }
deep: { expression: "outer()", message: deep says no, policies: { outer: { policy: plain } } }
`;

/** The kinds whose policies cannot be made to fail by an object. */
const UNFAILING: ReadonlySet<string> = new Set(["gatekeeper"]);
/** The kinds whose policies never say no: what they do is mutate, or fail to. */
const UNREJECTING: ReadonlySet<string> = new Set(["MutatingAdmissionPolicy document", "Kyverno's MutatingPolicy"]);

let objects = 0;
/** A Pod that every policy rejects, accepts or fails at; or a request for a certificate, where policies are about these. */
const reviewFor = (kind: string, mode: string): Review =>
  kind === "CertificateRequestPolicy" ? certificateReview(mode) : review(mode);

function certificateReview(mode: string): Review {
  const options = mode === "trap" ? { pem: "no PEM" } : {};
  const object = certificateRequest({ isCA: mode === "reject", duration: `${++objects}h` }, options);
  const resource = { group: "cert-manager.io", version: "v1", resource: "certificaterequests" };
  const kind = { group: resource.group, version: resource.version, kind: "CertificateRequest" };
  const asked = admission(object);
  return asked.kind === "raw" ? asked : { ...asked, request: { ...asked.request, kind, resource } };
}

const review = (mode: string): Review =>
  admission({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `x${++objects}`, annotations: { "chaos/mode": mode } },
    spec: { containers: [{ name: "c", image: "app", securityContext: { privileged: mode.startsWith("reject") } }] },
  });

const apiServer = await FakeApiServer.start({ after });
const loader = createLoader({
  kubeconfig: apiServer.kubeconfig(),
  policyTimeout: 60_000,
  workers: 1,
  downloadDirectory: folder,
});
after(() => loader.close());

async function load(text: string): Promise<Evaluator> {
  const read = parseConfig(text, `${root}/contract.yaml`);
  assert.ok(read.ok, JSON.stringify(read));
  assert.deepEqual(read.problems, []);
  const { policies } = await loader.load(read.config);
  return createEvaluator(policies, { policyTimeout: 60_000 });
}

const ANYTHING = `
  matchConstraints: { resourceRules: [ { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] } ] }`;

before(() => {
  writeFileSync(join(folder, "cel.wasm"), emptyModule("cel-policy"));
  writeFileSync(
    join(folder, "kyverno.yaml"),
    `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: chaos }
spec:${ANYTHING}${SPEC}
`,
  );
  writeFileSync(
    join(folder, "kyverno-images.yaml"),
    `apiVersion: policies.kyverno.io/v1
kind: ImageValidatingPolicy
metadata: { name: chaos }
spec:${ANYTHING}
  matchImageReferences: [ { glob: none } ]
  attestors: []${SPEC}
`,
  );
  const mutating = (kind: string): string => `kind: ${kind}
metadata: { name: chaos }
spec:${ANYTHING}
  reinvocationPolicy: Never
  mutations:
    - patchType: JSONPatch
      jsonPatch: { expression: "${MODE} == 'accept' ? [] : [JSONPatch{op: 'add', path: ${MODE} == 'mutate' ? '/metadata/finalizers' : object.nope, value: ['a.b/c']}]" }
`;
  const api = "apiVersion: admissionregistration.k8s.io/v1\n";
  writeFileSync(join(folder, "mutating.yaml"), api + mutating("MutatingAdmissionPolicy"));
  const kyverno = "apiVersion: policies.kyverno.io/v1\n";
  writeFileSync(join(folder, "kyverno-mutating.yaml"), kyverno + mutating("MutatingPolicy"));
  writeFileSync(
    join(folder, "requests.yaml"),
    `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata: { name: chaos }
spec: { selector: { issuerRef: {} } }
`,
  );
  writeFileSync(
    join(folder, "policy.yaml"),
    `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: chaos }
spec:${ANYTHING}${SPEC}
`,
  );
});

for (const [kind, entry] of Object.entries(KINDS)) {
  describe(`a policy of the kind ${kind}`, () => {
    let evaluator: Evaluator;
    before(async () => {
      evaluator = await load(yaml(entry));
    });
    const rejects = UNREJECTING.has(kind) ? [] : [kind === "opa" ? "reject-bare" : "reject"];
    const trap = UNFAILING.has(kind) ? [] : ["trap"];
    const modes = ["accept", ...rejects, ...trap];
    /** Where any refusal will do. */
    const reject = rejects[0] ?? "trap";
    const refused = rejects.length === 0 ? "error" : "deny";
    const verdict = async (id: string, mode: string): Promise<Verdict> =>
      ask(evaluator, id, reviewFor(kind, mode), "validate");

    test("accepts, rejects and fails as outcomes", async () => {
      const outcomes: string[] = [];
      for (const mode of modes) {
        const { outcome, response } = await verdict("p", mode);
        outcomes.push(outcome.verdict);
        assert.equal(response.allowed, mode === "accept");
      }
      assert.deepEqual(outcomes, ["allow", ...rejects.map(() => "deny"), ...trap.map(() => "error")]);
    });

    test("waits where it has to", async () => {
      apiServer.reviews.length = 0;
      await verdict("deep", reject);
      assert.equal(apiServer.reviews.length, entry.includes("authorizer") ? 1 : 0);
    });

    test("only reports in monitor mode", async () => {
      for (const mode of modes.slice(1)) {
        const { response, vanilla } = await verdict("monitored", mode);
        assert.deepEqual([response.allowed, vanilla.allowed], [true, false]);
      }
    });

    test("is a member: its answer counts, its failure is neither yes nor no", async () => {
      const allowed: Record<string, readonly boolean[]> = {};
      for (const mode of modes) {
        const answers = await Promise.all(["plain", "negated", "deep"].map((id) => verdict(id, mode)));
        allowed[mode] = answers.map(({ response }) => response.allowed);
      }
      assert.deepEqual(allowed, {
        accept: [true, false, true],
        ...(rejects.length > 0 && { [reject]: [false, true, false] }),
        ...(trap.length > 0 && { trap: [false, false, false] }),
      });
    });

    test("is observed once as a member, with its outcome", async () => {
      const { observations } = await verdict("deep", reject);
      // A group brings its own member along.
      const own = observations.filter(({ policy }) => policy.startsWith("plain/") || policy.startsWith("deep/"));
      assert.deepEqual(
        own.map(({ policy, outcome }) => [policy, outcome.verdict]),
        [
          ["plain/p", refused],
          ["deep/outer", refused],
        ],
      );
    });

    test("that answers after the deadline has timed out, whatever it says", async () => {
      for (const mode of ["accept", reject]) {
        const asked = ask(evaluator, "p", reviewFor(kind, mode), "validate", performance.now() - 1);
        const { outcome, response } = await asked;
        assert.deepEqual([outcome.verdict, response.allowed], ["error", false]);
        // A guest that was never asked has not timed out: its call waited for a thread.
        assert.match("cause" in outcome ? outcome.cause : "", /^(timeout|overload)$/);
      }
    });

    test("is no acceptance when it throws, rejects, or its client goes", async () => {
      const { policy } = evaluator.policies.entries.get("p") as ServedPolicy;
      const broken = (evaluate: Policy["evaluate"]): Policy =>
        Object.assign(Object.create(policy) as Policy, { evaluate });
      const failures: Readonly<Record<string, Policy["evaluate"]>> = {
        throws: () => {
          throw new Error("bug");
        },
        rejects: async (asked: Review, context: EvaluationContext): Promise<Outcome> => {
          await policy.evaluate(asked, context);
          throw new Error("bug");
        },
        lingers: (asked, context) =>
          new Promise((resolve) => {
            context.signal.addEventListener("abort", () => resolve(policy.evaluate(asked, context)));
          }),
      };
      for (const [name, evaluate] of Object.entries(failures)) {
        const served: ServedPolicy = { id: name, policy: broken(evaluate), mode: "monitor", allowedToMutate: false };
        const own = createEvaluator(createPolicySet([served]), { policyTimeout: 60_000 });
        const { outcome, response } = await ask(
          own,
          name,
          reviewFor(kind, "accept"),
          "validate",
          undefined,
          (abandon) => {
            if (name === "lingers") setImmediate(abandon);
          },
        );
        assert.equal(outcome.verdict, "error");
        if (name === "lingers") assert.deepEqual([response.allowed, response.status?.code], [false, CLIENT_GONE]);
        else assert.equal((await ask(own, name, reviewFor(kind, "accept"), "audit")).response.allowed, false);
      }
    });

    test("finds the same of a request however often it is asked at the same time", async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => verdict("p", i % 2 === 0 ? "accept" : reject)),
      );
      assert.deepEqual(
        answers.map(({ outcome }) => outcome.verdict),
        answers.map((_, i) => (i % 2 === 0 ? "allow" : refused)),
      );
    });
  });
}

describe("a policy that could not be loaded", () => {
  test("denies alone, in monitor mode, and as a member either way", async () => {
    const evaluator = await load(yaml("{ module: nowhere.wasm }"));
    for (const id of ["p", "monitored", "negated", "plain", "deep"]) {
      const { outcome, response } = await ask(evaluator, id, review("accept"), "validate");
      assert.deepEqual([id, outcome.verdict, response.allowed], [id, "error", false]);
    }
  });
});

describe("a mutating member", () => {
  const protocols = { extism: "extism", "kubewarden-wapc": "wapc", wasi: "wasi" };
  for (const [name, file] of Object.entries(protocols)) {
    test(`of ${name} is an error in its group: with an object, without one, and asked about null`, async () => {
      const member = `{ m: { module: test/fixtures/chaos/${file}.wasm, settings: { mode: mutate } } }`;
      const expressions = [
        "m()",
        "!m()",
        "!m(null)",
        "m(null) || !m(null)",
        "!m(oldObject)",
        "!m(object)",
        "m() ? false : true",
      ];
      const evaluator = await load(
        expressions.map((text, i) => `g${i}: { expression: "${text}", message: 'no', policies: ${member} }`).join("\n"),
      );
      for (const [i, text] of expressions.entries()) {
        for (const asked of [admission({ kind: "Pod", metadata: { name: "x" } }), admission()]) {
          const { outcome, response } = await ask(evaluator, `g${i}`, asked, "validate");
          assert.equal(response.allowed, false, text);
          const told = outcome.verdict === "error" ? (outcome.causes ?? []) : [];
          assert.equal(
            told[0]?.message,
            "mutation is not allowed inside of policy group",
            `${text}: ${JSON.stringify(outcome)}`,
          );
        }
      }
    });
  }

  test("of MutatingAdmissionPolicies is an error in its group, and none where nothing differs", async () => {
    const file = join(folder, "mutating.yaml");
    const member = `{ m: { resource: ${file} } }`;
    const expressions = ["m()", "!m()", "m() ? false : true"];
    const evaluator = await load(
      expressions
        .map((text, i) => `g${i}: { expression: "${text}", message: refused, policies: ${member} }`)
        .join("\n"),
    );
    for (const [i, text] of expressions.entries()) {
      const { outcome, response } = await ask(evaluator, `g${i}`, review("mutate"), "validate");
      assert.equal(response.allowed, false, text);
      const told = outcome.verdict === "error" ? (outcome.causes ?? []) : [];
      assert.equal(told[0]?.message, "mutation is not allowed inside of policy group", text);
    }
    assert.equal((await ask(evaluator, "g0", review("accept"), "validate")).response.allowed, true);
  });
});

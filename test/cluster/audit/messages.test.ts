import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { auditedPolicies } from "../../../src/cluster/audit/audited-policies.js";
import { parseConfig } from "../../../src/config/index.js";
import type { Outcome, Policy } from "../../../src/policy/index.js";
import type { ServedPolicy } from "../../../src/policy/served/policy-set.js";
import { LOOKALIKES } from "../../support/lookalikes.js";
import { audit, configMap } from "./support.js";

const matchConstraints = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};

function admission(kind: string, name: string, spec: object) {
  return { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name }, spec };
}

const policy = (validations: readonly object[], more: object = {}) =>
  admission("ValidatingAdmissionPolicy", "vap", { matchConstraints, validations, ...more });

const binding = (name: string, action: string) =>
  admission("ValidatingAdmissionPolicyBinding", name, { policyName: "vap", validationActions: [action] });

const kyverno = (kind: string, spec: object) => ({
  apiVersion: "policies.kyverno.io/v1",
  kind,
  metadata: { name: kind === "PolicyException" ? "e" : "p", ...(kind === "PolicyException" && { namespace: "shop" }) },
  spec,
});

const validating = (validations: readonly object[], more: object = {}) =>
  kyverno("ValidatingPolicy", { matchConstraints, validations, ...more });

type Documents = readonly object[];

/** What reports say of one object: for entries of these documents, and for others of policies.yaml. */
async function reported(context: TestContext, entries: Readonly<Record<string, Documents>>, others = "") {
  const folder = mkdtempSync(join(tmpdir(), "messages-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const lines = Object.entries(entries).map(([id, documents]) => {
    const file = join(folder, `${id}.yaml`);
    writeFileSync(file, documents.map((document) => JSON.stringify(document)).join("\n---\n"));
    return `${id}: {resource: ${JSON.stringify(file)}}\n`;
  });
  const { server, use, run } = await audit(context);
  server.put("configmaps", configMap("map", { a: "b" }));
  await use(`${lines.join("")}${others}`);
  const { leftOut } = await run();
  assert.deepEqual(leftOut, []);
  const [report] = server.objects("reports") as unknown as { readonly results: readonly Record<string, unknown>[] }[];
  return (report?.results ?? []).map(({ policy, result, message, properties }) => ({
    policy,
    result,
    message,
    properties,
  }));
}

/** What the audit makes of outcomes of an entry, whatever its policy is. */
function findingsOf(entry: string, ...outcomes: readonly Outcome[]) {
  const read = parseConfig(entry, "policies.yaml");
  assert.ok(read.ok && read.config.entries[0] !== undefined);
  const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
  const policy: Policy = {
    id: "p",
    kind: "cel",
    implementation: "any",
    immediate: true,
    rules,
    evaluate: () => ({ verdict: "allow" }),
  };
  const served = { id: "p", policy } as ServedPolicy;
  const [audited] = auditedPolicies([{ entry: read.config.entries[0], served }]).policies;
  return outcomes.map((outcome) => audited?.finding(outcome));
}

const process = "background scan";

describe("what reports of a cluster say", () => {
  for (const message of LOOKALIKES) {
    test(`is what the author wrote: ${message}`, async (context) => {
      const entries = {
        bound: [policy([{ expression: "false", message }]), binding("b1", "Deny"), binding("b2", "Warn")],
        free: [policy([{ expression: "true" }, { expression: "false", messageExpression: JSON.stringify(message) }])],
        kyverno: [validating([{ expression: "false", message: `${message}\nand more` }])],
      };
      const inline = `inline: {cel: {matchConstraints: ${JSON.stringify(matchConstraints)}, validations: [{expression: "false", message: ${JSON.stringify(message)}}]}}\n`;
      const group = `group: {expression: "a()", message: ${JSON.stringify(message)}, policies: {a: {policy: inline}}}\n`;
      assert.deepEqual(await reported(context, entries, `${inline}${group}`), [
        { policy: "vap", result: "fail", message, properties: { binding: "b1", process } },
        { policy: "vap", result: "fail", message, properties: { process } },
        {
          policy: "p",
          result: "fail",
          message: `${message}\nand more`,
          properties: { "cel.validationIndex": "0", process },
        },
        { policy: "inline", result: "fail", message, properties: undefined },
        { policy: "group", result: "fail", message, properties: undefined },
      ]);
    });
  }

  test("is a warning where all bindings that object only warn, whatever messages name", async (context) => {
    const message = "ValidatingAdmissionPolicy 'vap' with binding 'denied' denied request: no";
    const validations = [{ expression: "false", message, reason: "Forbidden" }];
    const elsewhere = { ...binding("denied", "Deny") };
    const bound = {
      ...elsewhere,
      spec: { ...elsewhere.spec, matchResources: { namespaceSelector: { matchLabels: { team: "none" } } } },
    };
    const entries = { warned: [policy(validations), bound, binding("warned", "Warn")] };
    assert.deepEqual(await reported(context, entries), [
      { policy: "vap", result: "warn", message, properties: { binding: "warned", process } },
    ]);
  });

  test("names what cannot be evaluated without the sentence around it", async (context) => {
    const expression = "object.data['Policy web failed: '] == 'x'";
    const found = await reported(context, {
      bound: [policy([{ expression }]), binding("b", "Deny")],
      kyverno: [validating([{ expression }])],
    });
    assert.deepEqual(found, [
      {
        policy: "vap",
        result: "error",
        message: `expression '${expression}' resulted in error: no such key: Policy web failed: `,
        properties: { binding: "b", process },
      },
      {
        policy: "p",
        result: "error",
        message: "error: no such key: Policy web failed: ",
        properties: { "cel.validationIndex": "0", process },
      },
    ]);
  });

  test("is what modules and groups say, and nothing is passed over", () => {
    for (const message of LOOKALIKES) {
      const outcomes: readonly Outcome[] = [
        { verdict: "deny", message },
        { verdict: "error", message, cause: "trap" },
        { verdict: "skip", reason: message },
        { verdict: "allow", message },
      ];
      const expected = [
        { status: "fail", message, properties: {} },
        { status: "error", message, properties: {} },
        undefined,
        { status: "pass", message: "", properties: {} },
      ];
      const group = "p: {expression: a(), message: m, policies: {a: {module: 'file:///a.wasm'}}}";
      for (const entry of ["p: {module: 'file:///a.wasm'}", group, "p: {cel: {validations: []}}"])
        assert.deepEqual(findingsOf(entry, ...outcomes), expected, entry);
    }
  });

  test("is nobody's where no CertificateRequestPolicy has decided", (context) => {
    const folder = mkdtempSync(join(tmpdir(), "messages-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "policy.json");
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: "policy.cert-manager.io/v1alpha1",
        kind: "CertificateRequestPolicy",
        metadata: { name: "c" },
        spec: { selector: { issuerRef: {} } },
      }),
    );
    const message = "ValidatingAdmissionPolicy 'c' denied request: Policy c failed: no";
    const found = findingsOf(
      `p: {resource: ${JSON.stringify(file)}}`,
      { verdict: "deny", message, code: 403, reason: "Forbidden" },
      { verdict: "skip", reason: message, report: { passedOver: "unprocessed" } },
      { verdict: "skip", reason: "due to policy exception" },
    );
    assert.deepEqual(found, [
      { status: "fail", message, properties: {} },
      { status: "skip", message, properties: {} },
      undefined,
    ]);
  });

  test("names its policies where an entry is asked as a whole", async (context) => {
    const message = "Policy web failed: call 555";
    const several = [
      validating([{ expression: "false", message }]),
      { ...validating([{ expression: "false", message }]), metadata: { name: "q" } },
    ];
    const others = 'group: {expression: "a()", message: denied, policies: {a: {policy: several}}}\n';
    const found = await reported(context, { several }, others);
    console.log(found);
    const first = found.find(({ policy: name }) => name === "several");
    assert.equal(first?.message, `Policy p failed: ${message}; Policy q failed: ${message}`);
  });

  test("passes over objects that are exempt, and says nothing of conditions that look like exceptions", async (context) => {
    const exception = kyverno("PolicyException", { policyRefs: [{ name: "p", kind: "ValidatingPolicy" }] });
    const never = [{ expression: "false", message: "no" }];
    const found = await reported(context, {
      exempt: [validating(never), exception],
      conditional: [policy(never, { matchConditions: [{ name: "due_to.policy-exception", expression: "false" }] })],
      other: [{ ...policy(never), metadata: { name: "other" } }],
    });
    assert.deepEqual(found, [
      {
        policy: "p",
        result: "skip",
        message: "rule is skipped due to policy exception: shop/e",
        properties: { exceptions: "e", process },
      },
      { policy: "other", result: "fail", message: "no", properties: { process } },
    ]);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem, type Problem } from "../../../src/config/documents/problem.js";
import { parseResources } from "../../../src/config/documents/source-document.js";
import type { ResourceEntry } from "../../../src/config/entry.js";
import { parseConfig } from "../../../src/config/index.js";
import { kyvernoKind } from "../../../src/kinds/kyverno/kind.js";
import { LoadError } from "../../../src/kinds/load-error.js";
import { prepareDocuments } from "../../../src/kinds/resource-entry.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import { validatingAdmissionPolicyKind } from "../../../src/kinds/validating-admission-policy/kind.js";
import type { Outcome } from "../../../src/policy/index.js";
import { NO_OPINION } from "../../../src/world/authorizer/authorizer.js";
import { context, review } from "./asked.js";

const KINDS = [validatingAdmissionPolicyKind(createExpressionCompiler(), undefined), kyvernoKind()];
const MATCH =
  "matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]}";
const document = (apiVersion: string, kind: string, spec: string, name = "p"): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ns}\nspec: {${spec}}\n---\n`;
const kyverno = (expression: string, more = ""): string =>
  document(
    "policies.kyverno.io/v1",
    "ValidatingPolicy",
    `${MATCH}, validations: [{expression: "${expression}"}]${more}`,
  );

/** What an entry of these documents answers, and what is said of them. */
async function asked(text: string, about = review()): Promise<{ outcome: Outcome; warnings: readonly string[] }> {
  const { documents, problems } = parseResources(text, "f.yaml");
  assert.deepEqual(problems, []);
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  assert.ok(holder.ok);
  const [first] = holder.config.entries;
  assert.ok(first?.kind === "cel");
  const { origin } = first;
  const entry: ResourceEntry = {
    kind: "resource",
    id: "p",
    origin,
    documents,
    policyMode: "protect",
    allowedToMutate: false,
  };
  const warnings: Problem[] = [];
  const prepared = prepareDocuments(entry, KINDS, (problem) => warnings.push(problem));
  const policy = await prepared.policy({ authorizer: NO_OPINION, now: () => 0 });
  return { outcome: await policy.evaluate(about, context()), warnings: warnings.map(formatProblem) };
}

/** Everything that keeps documents from being loaded. */
async function refused(text: string): Promise<readonly string[]> {
  const error = await asked(text).then(
    () => assert.fail("they are loaded"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof LoadError);
  return error.problems.map(formatProblem);
}

describe("documents of Kyverno in an entry", () => {
  test("are policies of every version", async () => {
    for (const version of ["v1", "v1beta1", "v1alpha1"]) {
      const { outcome } = await asked(kyverno("false").replace("kyverno.io/v1", `kyverno.io/${version}`));
      assert.equal(outcome.verdict, "deny");
    }
  });

  test("are asked together with those of other kinds", async () => {
    const vap = document(
      "admissionregistration.k8s.io/v1",
      "ValidatingAdmissionPolicy",
      `${MATCH}, validations: [{expression: "object.spec.a != 1", message: native}]`,
      "q",
    );
    const { outcome, warnings } = await asked(kyverno("object.spec.a == 2") + vap.replace(", namespace: ns", ""));
    assert.deepEqual(warnings, []);
    assert.ok(outcome.verdict === "deny");
    assert.deepEqual(
      outcome.causes?.map(({ message }) => message),
      [
        "ValidatingAdmissionPolicy 'q' denied request: native",
        "Policy p failed: CEL expression validation failed at index 0",
      ],
    );
  });

  test("bring the Namespaces that they look at, and exceptions", async () => {
    const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns, labels: {env: prod}}\n---\n";
    const policy = kyverno("namespaceObject.metadata.labels.env == 'test'");
    assert.equal((await asked(policy + namespace)).outcome.verdict, "deny");
    const exception = document(
      "policies.kyverno.io/v1",
      "PolicyException",
      "policyRefs: [{name: p, kind: ValidatingPolicy}]",
    );
    assert.equal((await asked(policy + namespace + exception)).outcome.verdict, "skip");
  });

  test("of the old language have no effect on these, and no error", async () => {
    const legacy = document(
      "kyverno.io/v2",
      "PolicyException",
      "exceptions: [{policyName: p, ruleNames: ['*']}], match: {any: [{resources: {kinds: [Pod]}}]}",
    );
    const { outcome, warnings } = await asked(kyverno("false") + legacy);
    assert.equal(outcome.verdict, "deny");
    assert.deepEqual(warnings, [
      "f.yaml:9:34: warning: spec.exceptions[0].policyName: the exception has no effect: no policy of this name is there: give its file, too",
    ]);
  });

  test("of the first design are refused", async () => {
    const [problem] = await refused(kyverno("false").replace("policies.kyverno.io/v1", "kyverno.io/v1alpha1"));
    assert.match(problem ?? "", /^f\.yaml:1:13: apiVersion: .*policies\.kyverno\.io/);
  });

  test("with a mistake are refused at its place, all mistakes at once", async () => {
    const problems = await refused(kyverno("true", ", failureAction: Enforce") + kyverno("nope").replace("p,", "q,"));
    assert.equal(problems.length, 2);
    assert.match(problems[0] ?? "", /^f\.yaml:4:\d+: spec\.failureAction: .*use spec\.validationActions instead/);
    assert.match(
      problems[1] ?? "",
      /^f\.yaml:9:\d+: spec\.validations\[0\]\.expression: .*undeclared reference to 'nope'/s,
    );
  });

  test("say that a policy for scans lets every request pass", async () => {
    const { warnings } = await asked(kyverno("false", ", evaluation: {admission: {enabled: false}}"));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? "", /admission\.enabled: the policy is for scans of stored objects only/);
  });
});

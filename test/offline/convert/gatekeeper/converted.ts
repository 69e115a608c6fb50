/** Templates and Constraints for tests, converted and judging. */
import assert from "node:assert/strict";
import { formatProblem } from "../../../../src/config/documents/problem.js";
import { parseResources } from "../../../../src/config/documents/source-document.js";
import { createEvaluator, createReview, loadPolicies } from "../../../../src/index.js";
import { convert, printed, type WholeConversion } from "../../../../src/offline/convert/index.js";

/** A document, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** Code of a template that objects to all that it is asked about. */
export const SOURCE = { validations: [{ expression: "false", message: "matched" }] };
export const template = (source: unknown, more: Json = {}, kind = "Rule"): Json => ({
  apiVersion: "templates.gatekeeper.sh/v1",
  kind: "ConstraintTemplate",
  metadata: { name: kind.toLowerCase() },
  spec: {
    crd: {
      spec: { names: { kind }, ...(more.schema !== undefined && { validation: { openAPIV3Schema: more.schema } }) },
    },
    targets: [
      {
        target: "admission.k8s.gatekeeper.sh",
        code: [{ engine: "K8sNativeValidation", source }],
        ...(more.operations !== undefined && { operations: more.operations }),
      },
    ],
  },
});
export const constraint = (spec: Json, name = "rule", kind = "Rule"): Json => ({
  apiVersion: "constraints.gatekeeper.sh/v1beta1",
  kind,
  metadata: { name },
  spec,
});

export function converted(...documents: readonly Json[]): WholeConversion {
  const read = parseResources(JSON.stringify({ apiVersion: "v1", kind: "List", items: documents }), "in.json");
  return convert(read.documents, true);
}

export const errorsOf = ({ problems }: WholeConversion): readonly string[] =>
  problems.filter(({ severity }) => severity === "error").map(formatProblem);

/** The one policy's entry, judging. */
export async function judge(made: WholeConversion, questions: readonly Parameters<typeof createReview>[0][]) {
  assert.deepEqual(errorsOf(made), []);
  const loaded = await loadPolicies({ text: printed(made.policies, "cel") });
  assert.equal(loaded.errors, 0, JSON.stringify(loaded.problems));
  const evaluator = createEvaluator(loaded);
  const ids = loaded.ids;
  const answers = [];
  for (const question of questions) {
    const review = createReview(question);
    const given = await Promise.all(ids.map((id) => evaluator.evaluate(id, review)));
    answers.push({
      allowed: given.every(({ allowed }) => allowed),
      message: given.map(({ response }) => response.status?.message ?? "").join(""),
      warnings: given.flatMap(({ response }) => response.warnings ?? []),
    });
  }
  evaluator.close();
  await loaded.close();
  return answers;
}

/** Patterns as validations, and what they say of objects. */
import { patternRule } from "../../../../../src/kinds/kyverno/convert/pattern/pattern-rule.js";
import { shapeOfRules } from "../../../../../src/kinds/kyverno/convert/pattern/shape.js";
import { RuleDraft } from "../../../../../src/kinds/kyverno/convert/rule-draft.js";
import type { JsonObject } from "../../../../../src/kubernetes/object.js";
import { answerOf } from "../../../../support/asking.js";
import { context, policy, review, setOf } from "../../asked.js";
import { scopeOf } from "../converted.js";

/** A resource of a kind with a schema, and one of a kind without. */
export type Resource = "pods" | "services" | "widgets";

function draftOf(pattern: unknown, resource: Resource, message: string): RuleDraft {
  const draft = new RuleDraft();
  const shape = shapeOfRules([
    { apiGroups: [resource === "widgets" ? "demo.example.com" : ""], resources: [resource] },
  ]);
  const key = Array.isArray(pattern) ? "anyPattern" : "pattern";
  patternRule(pattern, message, scopeOf({ draft, shape }), ["validate", key]);
  return draft;
}

/** The expressions, with the variables before them: `NAME = EXPRESSION`. */
export function written(pattern: unknown, resource: Resource): readonly string[] {
  const { variables, validations } = draftOf(pattern, resource, "No.");
  return [
    ...variables.map(({ name, expression }) => `${name} = ${expression}`),
    ...validations.map(({ expression = "" }) => expression),
  ];
}

/** What a pattern says of objects: `pass`, or the message, from which the words before the rule's name are cut. */
export function judged(
  pattern: unknown,
  resource: Resource,
  objects: readonly JsonObject[],
  message = "No.",
): readonly string[] {
  const { variables, validations } = draftOf(pattern, resource, message);
  const plain = ({ from: _, ...rest }: (typeof validations)[number] | (typeof variables)[number]): JsonObject => rest;
  const set = setOf([policy({ variables: variables.map(plain), validations: validations.map(plain) })]);
  return objects.map((object) => {
    const outcome = answerOf(set, review({ object: { kind: "Thing", metadata: {}, ...object } }), context());
    if (outcome.verdict === "allow") return "pass";
    return "message" in outcome ? String(outcome.message).replace(/^.*?(?=validation error)/s, "") : outcome.verdict;
  });
}

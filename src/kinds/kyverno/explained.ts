/** What explanations show of a policy: of the variants that it has for pod controllers each with its own expressions. */
import type { ExplainedPolicy, PlacedExpression } from "../shared/explain/explainable.js";
import type { CompiledPolicy, CompiledVariant } from "./compiled-policy.js";
import { expressionsOfVariant } from "./covered-expressions.js";
import type { RuleResult } from "./engine/response.js";
import type { Metadata } from "./resource.js";

/** A policy, for explanations. */
export function explainedPolicy({ resource, variants }: CompiledPolicy): ExplainedPolicy {
  return {
    title: `${resource.kind} '${nameOf(resource.metadata)}'`,
    variants: variants.map((variant) => ({
      part: variant,
      ...(variant.name !== "" && { label: (kind: string) => labelOf(variant, kind) }),
      expressions: [...conditionsOfExceptions(variant), ...expressionsOfVariant(variant)],
    })),
  };
}

/** What became of a policy that matched, in the engine's terms. */
export function foundText({ rule, status, message }: RuleResult): string {
  switch (status) {
    case "pass":
      return rule === "" ? "pass" : `pass: ${message}`;
    case "skip":
      return `does not apply: ${rule === "" ? "a match condition is false" : message}`;
    case "fail":
      return `fail: ${message}`;
    case "error":
      return message.startsWith("error: ") ? message : `error: ${message}`;
  }
}

/** `for Deployments (autogen)`: for the kind that was asked about, or for all that the variant is for. */
function labelOf({ targets }: CompiledVariant, asked: string): string {
  const kinds = targets.map(({ kind }) => kind);
  const named = kinds.includes(asked) ? [asked] : kinds;
  return `for ${named.map((kind) => `${kind}s`).join(", ")} (autogen)`;
}

function* conditionsOfExceptions({ exceptions }: CompiledVariant): Iterable<PlacedExpression> {
  for (const { resource, conditions } of exceptions) {
    const exception = `${resource.kind} '${nameOf(resource.metadata)}'`;
    for (const [i, expression] of conditions.entries()) {
      const name = resource.spec.matchConditions?.[i]?.name;
      yield { path: `${exception}: spec.matchConditions[${i}].expression`, name, expression };
    }
  }
}

const nameOf = ({ namespace = "", name = "" }: Metadata): string => (namespace === "" ? name : `${namespace}/${name}`);

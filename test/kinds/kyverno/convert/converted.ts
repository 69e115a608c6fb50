/** What converted expressions say, and what they come to. */
import { primary } from "../../../../src/kinds/kyverno/convert/cel-text.js";
import { NotConverted } from "../../../../src/kinds/kyverno/convert/not-converted.js";
import { RuleDraft } from "../../../../src/kinds/kyverno/convert/rule-draft.js";
import type { Scope } from "../../../../src/kinds/kyverno/convert/scope.js";
import type { Term } from "../../../../src/kinds/kyverno/convert/term.js";
import { BINDINGS, evaluated } from "../evaluated.js";

/** The scope of a rule about any object. @param more such as `inline`, which writes no variables */
export const scopeOf = (more: Partial<Scope> = {}): Scope => ({
  roots: { object: primary("object"), oldObject: primary("oldObject") },
  names: new Map(),
  draft: new RuleDraft(),
  inline: false,
  rule: "check",
  depth: 0,
  ...more,
});

/** The CEL of a term, and the variables that it has written: `NAME = EXPRESSION`. */
export function written(convert: (scope: Scope) => Term, more: Partial<Scope> = {}): readonly string[] {
  const scope = scopeOf(more);
  const { cel } = convert(scope);
  return [cel.text, ...scope.draft.variables.map(({ name, expression }) => `${name} = ${expression}`)];
}

/** The value of a term for an object; `error` where it has none. */
export function resultOf(convert: (scope: Scope) => Term, object: unknown, more: Partial<Scope> = {}): unknown {
  const outcome = evaluated(convert(scopeOf({ inline: true, ...more })).cel.text, {
    bindings: { ...BINDINGS, object: object as never },
  });
  if ("refused" in outcome) throw new Error(outcome.refused);
  return "error" in outcome ? "error" : outcome.value;
}

/** Why something is not converted. */
export function refusal(convert: (scope: Scope) => unknown, more: Partial<Scope> = {}): string {
  try {
    convert(scopeOf(more));
  } catch (error) {
    if (error instanceof NotConverted) return error.message;
    throw error;
  }
  throw new Error("it is converted");
}

// Tests that are written elsewhere still import this name.
export { resultOf as valueOf };

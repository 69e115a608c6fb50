/** A CEL policy with mistakes in its keys, as far as it can be compiled, so that the mistakes in its expressions are told in the same run. */

/** Stands in for expressions that are missing or no texts: right wherever it stands, and without anything to say. */
const STANDS_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  validations: { expression: "true" },
  matchConditions: { name: "unnamed", expression: "true" },
  variables: { name: "unnamed", expression: "dyn(null)" },
  auditAnnotations: { key: "unnamed", valueExpression: "'none'" },
};
/** What `params` may be, where its kind can't be told. */
const SOME_KIND = { apiVersion: "v1", kind: "ConfigMap" };
/** Where requirements are incomplete, or no list could be read: who has mistakes there is checked as a policy for everything. */
const NOT_SALVAGED = "matchConstraints";

/**
 * The spec with something in the place of what is missing. Items keep their places in their lists.
 * @param mayHaveRules whether what is wrong may be its rules
 * @param spec of a record that was salvaged: known keys with values of the right types
 */
export function salvagedSpec(
  spec: Readonly<Record<string, unknown>>,
  mayHaveRules: boolean,
): Readonly<Record<string, unknown>> {
  const whole: Record<string, unknown> = {};
  if (mayHaveRules && spec.validations === undefined) whole.validations = [STANDS_IN.validations];
  for (const [key, value] of Object.entries(spec)) {
    const standIn = STANDS_IN[key];
    if (key === NOT_SALVAGED) continue;
    if (key === "paramKind") whole[key] = { ...SOME_KIND, ...(value as object) };
    else if (standIn !== undefined && Array.isArray(value))
      whole[key] = value.map((item, at) => filled(item, standIn, at));
    else whole[key] = value;
  }
  return Object.freeze(whole);
}

/** Names that stand in differ, as names have to. */
function filled(item: object, standIn: Readonly<Record<string, string>>, at: number): object {
  const texts = Object.entries(standIn).map(([key, text]) => [key, text === "unnamed" ? `${text}${at}` : text]);
  return { ...Object.fromEntries(texts), ...item };
}

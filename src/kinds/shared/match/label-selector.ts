/** Label selectors (spec validating-admission-policy.md 3.6). */
import { aggregate, goJson, goQuote } from "../../../kubernetes/field-error.js";
import { labelValueErrors, qualifiedNameErrors } from "../../../kubernetes/name-formats.js";

/** A selector as it is written. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

/** One expression of a selector. */
export interface LabelSelectorExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** A prepared selector: either it can match, or `error` is the reason why not. */
export interface PreparedSelector {
  /** Without requirements: matches everything, and needs no look-up. */
  readonly empty: boolean;
  readonly error: string | undefined;
  matches(labels: Labels): boolean;
}

/** Whether labels alone decide that a selector does not match: a broken one fails instead. */
export const isLeftOut = (selector: PreparedSelector, labels: Labels): boolean =>
  selector.error === undefined && !selector.matches(labels);

type Requirement = (labels: Labels) => boolean;

/** Prepares a selector. A broken one (which only an unvalidated policy can have) keeps the text the API server would fail with. */
export function prepareSelector(selector: LabelSelector): PreparedSelector {
  const requirements: Requirement[] = [];
  const matchLabels = Object.entries(selector.matchLabels ?? {});
  const written: readonly LabelSelectorExpression[] = [
    ...matchLabels.map(([key, value]) => ({ key, operator: "=", values: [value] })),
    ...(selector.matchExpressions ?? []),
  ];
  for (const expression of written) {
    const error = requirementError(expression);
    if (error !== undefined) return { empty: false, error, matches: () => false };
    requirements.push(requirement(expression));
  }
  return {
    empty: requirements.length === 0,
    error: undefined,
    matches: (labels) => requirements.every((holds) => holds(labels)),
  };
}

function requirement({ key, operator, values = [] }: LabelSelectorExpression): Requirement {
  const set = new Set(values);
  const has = (labels: Labels): boolean => Object.hasOwn(labels, key);
  switch (operator) {
    case "NotIn":
      return (labels) => !has(labels) || !set.has(labels[key] ?? "");
    case "Exists":
      return has;
    case "DoesNotExist":
      return (labels) => !has(labels);
    default:
      return (labels) => has(labels) && set.has(labels[key] ?? "");
  }
}

/** The error of an expression. */
function requirementError({ key, operator, values = [] }: LabelSelectorExpression): string | undefined {
  if (!["=", "In", "NotIn", "Exists", "DoesNotExist"].includes(operator)) {
    return `${goQuote(operator)} is not a valid label selector operator`;
  }
  const errors: string[] = [];
  const keyErrors = qualifiedNameErrors(key);
  if (keyErrors.length > 0) errors.push(`key: Invalid value: ${goQuote(key)}: ${keyErrors.join("; ")}`);
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    errors.push(`values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`);
  }
  if ((operator === "Exists" || operator === "DoesNotExist") && values.length > 0) {
    errors.push(`values: Invalid value: ${goJson(values)}: values set must be empty for exists and does not exist`);
  }
  values.forEach((value, i) => {
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) {
      errors.push(`values[${i}][${key}]: Invalid value: ${goQuote(value)}: ${valueErrors.join("; ")}`);
    }
  });
  return errors.length === 0 ? undefined : aggregate(errors);
}

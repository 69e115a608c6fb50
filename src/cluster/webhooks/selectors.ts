/** Label selectors of webhooks: joined, and in a canonical form. */
import type { LabelSelector, LabelSelectorExpression } from "../../kinds/shared/match/label-selector.js";
import { compareNames } from "../../kubernetes/names.js";

/** The label that every Namespace has. */
export const NAMESPACE_LABEL = "kubernetes.io/metadata.name";

/** A selector that holds where all of them do. */
export function allOf(...selectors: readonly LabelSelector[]): LabelSelector {
  const labels = new Map<string, string>();
  const expressions = new Map<string, LabelSelectorExpression>();
  const add = (expression: LabelSelectorExpression): void => {
    expressions.set(JSON.stringify(expression), expression);
  };
  for (const { matchLabels = {}, matchExpressions = [] } of selectors) {
    for (const [key, value] of Object.entries(matchLabels)) {
      if ((labels.get(key) ?? value) === value) labels.set(key, value);
      else add({ key, operator: "In", values: [value] });
    }
    for (const { key, operator, values = [] } of matchExpressions) {
      const sorted = [...new Set(values)].sort(compareNames);
      add({ key, operator, ...(sorted.length > 0 && { values: sorted }) });
    }
  }
  const matchLabels = Object.fromEntries([...labels].sort(([a], [b]) => compareNames(a, b)));
  const matchExpressions = [...expressions].sort(([a], [b]) => compareNames(a, b)).map(([, each]) => each);
  return {
    ...(labels.size > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

/** A selector of Namespaces other than these. */
export const outsideOf = (namespaces: readonly string[]): LabelSelector =>
  namespaces.length === 0
    ? {}
    : { matchExpressions: [{ key: NAMESPACE_LABEL, operator: "NotIn", values: namespaces }] };

/** A selector of one Namespace. */
export const insideOf = (namespace: string): LabelSelector => ({
  matchExpressions: [{ key: NAMESPACE_LABEL, operator: "In", values: [namespace] }],
});

/** The names of Namespaces to which a selector is limited, a list for each of its requirements about them. */
export const namesSelectedBy = ({
  matchLabels = {},
  matchExpressions = [],
}: LabelSelector): readonly (readonly string[])[] => [
  ...Object.entries(matchLabels).flatMap(([key, value]) => (key === NAMESPACE_LABEL ? [[value]] : [])),
  ...matchExpressions.flatMap(({ key, operator, values = [] }) =>
    key === NAMESPACE_LABEL && operator === "In" ? [values] : [],
  ),
];

/** Whether two selectors, each made by {@link allOf}, are the same. */
export const sameSelector = (a: LabelSelector, b: LabelSelector): boolean => JSON.stringify(a) === JSON.stringify(b);

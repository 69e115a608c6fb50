import { namesVariable } from "../../cel/index.js";
import type { Expression } from "../../cel-policy/expressions/expression.js";
import type { LabelSelector } from "../../cel-policy/match/label-selector.js";
import { type JsonObject, text } from "../../kubernetes/object.js";
import type { Needs } from "../../world/needs.js";
import type { CompiledPolicy, CompiledVariant } from "./compiled-policy.js";
import { CONTEXT_ENTRY_KIND } from "./resource.js";

/** The label that every Namespace has: its value is known without seeing the Namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/**
 * What a policy will ask of the world, told from its compiled form and the documents beside it.
 * @param objects what the documents hold besides policies: where Namespaces or context entries are among them, others are not looked for in a
 * cluster
 */
export function needsOf({ variants }: CompiledPolicy, objects: readonly JsonObject[]): Needs {
  const bringsNamespaces = objects.some(
    (object) => text(object, "apiVersion") === "v1" && text(object, "kind") === "Namespace",
  );
  const bringsEntries = objects.some((object) => text(object, "kind") === CONTEXT_ENTRY_KIND);
  // `http` and `image` do without a cluster.
  const resources = variants.some((variant) => names(variant, "resource"));
  const entries = variants.some((variant) => names(variant, "globalContext"));
  const namespaces = variants.some(({ namesNamespace }) => namesNamespace);
  const labels = variants.flatMap(({ spec }) => labelsOf(spec.matchConstraints?.namespaceSelector));
  return {
    asks: resources || entries || namespaces || labels.length > 0,
    requires:
      resources ||
      (entries && !bringsEntries) ||
      (!bringsNamespaces && (namespaces || labels.some((label) => label !== NAME_LABEL))),
    parameters: [],
  };
}

/** Every expression of a variant, those of its exceptions too. */
function expressionsOf(variant: CompiledVariant): readonly (Expression | undefined)[] {
  const { conditions, variables, validations, annotations, exceptions } = variant;
  return [
    ...conditions,
    ...variables.values(),
    ...validations.flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
    ...annotations.map(({ expression }) => expression),
    ...exceptions.flatMap((exception) => exception.conditions),
  ];
}

const names = (variant: CompiledVariant, name: string): boolean =>
  expressionsOf(variant).some(
    (expression) => expression?.program && namesVariable(expression.program.references, name),
  );

function labelsOf(selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}

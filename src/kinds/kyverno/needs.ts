import { type JsonObject, text } from "../../kubernetes/object.js";
import { NAMESPACE_LABELS, type Needs } from "../../world/needs.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { namesIn } from "./named-variables.js";
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
  const resources = variants.some((variant) => namesIn(variant, "resource"));
  const entries = variants.some((variant) => namesIn(variant, "globalContext"));
  const namespaces = variants.some(({ namesNamespace }) => namesNamespace);
  const labels = variants.flatMap(({ spec }) => labelsOf(spec.matchConstraints?.namespaceSelector));
  return {
    asks: resources || entries || namespaces || labels.length > 0,
    requires: [
      ...(resources ? [{ what: "objects (`resource`)" }] : []),
      ...(entries && !bringsEntries ? [{ what: "context entries", documents: `${CONTEXT_ENTRY_KIND} documents` }] : []),
      ...(!bringsNamespaces && labels.some((label) => label !== NAME_LABEL) ? [NAMESPACE_LABELS] : []),
      ...(!bringsNamespaces && namespaces ? [{ what: "`namespaceObject`", documents: "Namespaces" }] : []),
    ],
    parameters: [],
  };
}

function labelsOf(selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}

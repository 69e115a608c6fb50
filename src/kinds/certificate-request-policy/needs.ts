import { type JsonObject, text } from "../../kubernetes/object.js";
import { NAMESPACE_LABELS, type Needs } from "../../world/needs.js";
import type { CompiledPolicy } from "./engine/compiled-policy.js";

/** What selectors ask of the world. Where documents bring Namespaces, others are not looked for in a cluster. */
export function needsOf(policies: readonly CompiledPolicy[], objects: readonly JsonObject[]): Needs {
  const asks = policies.some(({ namespaceLabels }) => namespaceLabels !== undefined);
  const brought = objects.some((object) => text(object, "apiVersion") === "v1" && text(object, "kind") === "Namespace");
  return { asks, requires: asks && !brought ? [NAMESPACE_LABELS] : [], parameters: [] };
}

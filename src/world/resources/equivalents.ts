/**
 * Resources kept in one storage (spec validating-admission-policy.md 2.7): the built-in ones that a current cluster serves in two places, and
 * the versions of custom resources.
 */
import { type JsonObject, member, text } from "../../kubernetes/object.js";
import type { EquivalentResource } from "./resource-source.js";

/** Resources that share a storage: see {@link ResourceSource.equivalents}. */
export interface EquivalentSet {
  readonly resources: readonly (EquivalentResource & { readonly subresource: string })[];
  /** What converting between its kinds fails with; without it their shapes are equal and only the label changes. */
  readonly conversionError?: string;
}

const NO_CONVERSION = "only the API server can convert between its versions";

const set = (
  resource: string,
  kind: string,
  subresources: readonly string[],
  ...versions: readonly [string, string][]
): EquivalentSet => ({
  resources: subresources.flatMap((subresource) =>
    versions.map(([group, version]) => ({
      resource: { group, version, resource },
      subresource,
      kind: { group, version, kind },
    })),
  ),
  conversionError: NO_CONVERSION,
});

/** Built-in resources with two shapes. */
export const BUILTIN_EQUIVALENTS: readonly EquivalentSet[] = [
  set("events", "Event", [""], ["", "v1"], ["events.k8s.io", "v1"]),
  set(
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    ["", "status"],
    ["autoscaling", "v1"],
    ["autoscaling", "v2"],
  ),
];

/** The served versions of a CustomResourceDefinition; `undefined` when there is only one. */
export function equivalentsOf(definition: JsonObject): EquivalentSet | undefined {
  const spec = member(definition, "spec");
  const group = text(spec, "group");
  const names = member(spec, "names");
  const written = member(spec, "versions");
  const versions = (Array.isArray(written) ? (written as readonly unknown[]) : [])
    .filter((version) => member(version, "served") !== false)
    .map((version) => text(version, "name"));
  if (versions.length < 2) return undefined;
  const resource = text(names, "plural");
  const kind = text(names, "kind");
  const resources = ["", "status"].flatMap((subresource) =>
    versions.map((version) => ({
      resource: { group, version, resource },
      subresource,
      kind: { group, version, kind },
    })),
  );
  // Without a webhook, versions differ in nothing but their name.
  const converts = text(member(spec, "conversion"), "strategy") === "Webhook";
  return { resources, ...(converts && { conversionError: "its conversion webhook cannot be asked here" }) };
}

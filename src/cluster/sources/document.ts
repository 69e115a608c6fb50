/** Converts objects of a cluster to documents of policies. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { kubectlText } from "../../data/kubectl-text.js";
import { apiVersionOf } from "../../kubernetes/names.js";
import { type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";

/** The key of a resource, whatever its version: `<group>/<kind>/<namespace>/<name>`. */
export const keyOf = (group: string, kind: string, object: unknown): string =>
  `${group}/${kind}/${namespaceOf(object)}/${nameOf(object)}`;

/** The name of a kind in a version. */
export interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * An object as a document: without its status, and without its managed fields.
 * @param kind in items of lists it may be missing
 */
export function documentOf(object: JsonObject, kind: NamedKind): ClusterDocument {
  const { managedFields: _, ...metadata } = (member(object, "metadata") ?? {}) as JsonObject;
  const { status: __, ...rest } = object;
  const generation = member(metadata, "generation");
  return {
    key: keyOf(kind.group, kind.kind, object),
    uid: text(metadata, "uid"),
    resourceVersion: text(metadata, "resourceVersion"),
    generation: typeof generation === "number" ? generation : 0,
    text: kubectlText({ ...rest, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }),
  };
}

/** Whether two documents of a resource have the same contents: a change of the status alone also changes the version. */
export function saysTheSame(one: ClusterDocument, other: ClusterDocument): boolean {
  if (one.uid !== other.uid || one.generation !== other.generation || one.leftOut !== other.leftOut) return false;
  return withoutVersion(one) === withoutVersion(other);
}

const withoutVersion = ({ text: whole, resourceVersion }: ClusterDocument): string =>
  whole.replaceAll(`"resourceVersion": "${resourceVersion}"`, "");

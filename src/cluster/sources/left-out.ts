/** The stubs of policies whose namespaces are omitted, and the messages about them. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { kubectlLength } from "../../data/kubectl-text.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf } from "../../kubernetes/object.js";
import { EVERYTHING, listOf, textsOf } from "../webhooks/rules.js";
import { documentOf, type NamedKind } from "./document.js";
import type { Limit } from "./held-sizes.js";
import {
  MAX_DOCUMENTS,
  MAX_KIND_BYTES,
  MAX_NAMESPACE_BYTES,
  MAX_NAMESPACE_DOCUMENTS,
  MAX_STUB_MEMBER_BYTES,
} from "./limits.js";

const MIB = 1024 * 1024;

/** Why the policies of a namespace deny, for its owners. */
export function whyLeftOut(namespace: string, kind: string, limit: Limit): string {
  const until = "none of these is served, and they deny, until some are deleted";
  return limit === "namespace"
    ? `the namespace ${namespace} has more objects of the kind ${kind} than the ${MAX_NAMESPACE_DOCUMENTS}, or the ${MAX_NAMESPACE_BYTES / MIB} MiB, that one may have: ${until}`
    : `all namespaces together have more objects of the kind ${kind} than the ${MAX_DOCUMENTS}, or the ${MAX_KIND_BYTES / MIB} MiB, that are held, and ${namespace} has most of them: ${until}`;
}

/**
 * The stub of a policy whose namespace is omitted: its identity, and the inputs of its webhook. A member that is too long is left out, or widened, so that the
 * webhook asks about no less.
 */
export function stubOf(object: JsonObject, kind: NamedKind, why: string): ClusterDocument {
  const { creationTimestamp, generation, resourceVersion, uid } = (member(object, "metadata") ?? {}) as JsonObject;
  const metadata = {
    name: nameOf(object),
    namespace: namespaceOf(object),
    creationTimestamp,
    generation,
    resourceVersion,
    uid,
  };
  const spec = member(object, "spec");
  const kept = Object.entries(isObject(spec) ? spec : {}).flatMap(([key, value]) => {
    if (isShort(value)) return [[key, value] as const];
    if (key === "rules") return [[key, wider(value)] as const];
    const rules = key === "matchConstraints" ? wider(member(value, "resourceRules")) : undefined;
    return rules === undefined ? [] : [[key, { resourceRules: rules }] as const];
  });
  return { ...documentOf({ metadata, spec: Object.fromEntries(kept) }, kind), leftOut: why };
}

/** A value, if it is short. */
export const shortOnly = (value: unknown): unknown => (isShort(value) ? value : undefined);

const isShort = (value: unknown): boolean => kubectlLength(value) <= MAX_STUB_MEMBER_BYTES;

/** One rule that covers all of some rules, and perhaps more. */
function wider(rules: unknown): readonly object[] {
  const words = (key: string): readonly string[] => {
    const all = [...new Set(listOf(rules).flatMap((rule) => textsOf(member(rule, key))))];
    return isShort(all) ? all : ["*"];
  };
  const rule = {
    ...EVERYTHING,
    operations: words("operations"),
    apiGroups: words("apiGroups"),
    apiVersions: words("apiVersions"),
  };
  const resources = words("resources");
  return [{ ...rule, resources: resources.length === 1 && resources[0] === "*" ? EVERYTHING.resources : resources }];
}

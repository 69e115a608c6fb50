/** Chooses the version of a policy that answers, and gives policies of a set another version in shadow. */
import type { Policy } from "../../policy.js";
import type { Review } from "../../review.js";
import type { PolicySet, ServedPolicy, ShadowVersion } from "../policy-set.js";

/** The version that answers a review. A broken one does not replace a working one. */
export function answering(entry: ServedPolicy, review: Review): ServedPolicy {
  const { shadow } = entry;
  if (shadow === undefined || review.kind !== "admission") return entry;
  const { namespace } = review.request;
  if (namespace === undefined || !shadow.enforcedNamespaces.has(namespace)) return entry;
  return shadow.entry.unavailable !== undefined && !shadow.isAlone ? entry : shadow.entry;
}

/** The served policy where none is in force: it accepts every request without a message. */
export function servedAlone(shadow: Omit<ShadowVersion, "isAlone">): ServedPolicy {
  const { id, mode, policy } = shadow.entry;
  const silent: Policy = {
    id,
    kind: policy.kind,
    implementation: "shadow",
    immediate: true,
    evaluate: () => ({ verdict: "skip", reason: "no version of the policy is in force: the only one is in shadow" }),
  };
  return { id, policy: silent, mode, allowedToMutate: false, shadow: { ...shadow, isAlone: true } };
}

/** Policies in the shadow of others. */
export interface ShadowSet {
  readonly policies: PolicySet;
  /** The version of all of them. */
  readonly version: string;
}

/**
 * Puts the policies of a set in the shadow of served ones with the same id that have none; policies that only the set has are in shadow alone.
 * Members of groups are not addressed by themselves there.
 */
export function withShadows(served: Iterable<ServedPolicy>, { policies, version }: ShadowSet): ServedPolicy[] {
  const entries = new Map(Array.from(served, (entry) => [entry.id, entry]));
  for (const [id, entry] of policies.entries) {
    const active = entries.get(id);
    if (id.includes("/") || active?.shadow !== undefined) continue;
    const shadow = { entry, version, enforcedNamespaces: NOWHERE };
    entries.set(id, active === undefined ? servedAlone(shadow) : { ...active, shadow: { ...shadow, isAlone: false } });
  }
  return [...entries.values()];
}

const NOWHERE: ReadonlySet<string> = new Set();

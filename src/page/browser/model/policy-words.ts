import type { PagePolicy } from "../../api.js";

/** A remark about a policy's state. */
export interface PolicyState {
  readonly tone: "good" | "bad" | "warn" | "quiet";
  readonly symbol: string;
  readonly word: string;
}

/** The states of a policy, the gravest first; one that answers as it was written, in mode protect, has none. */
export function statesOf(policy: PagePolicy): PolicyState[] {
  const states: PolicyState[] = [];
  if (policy.kind === "unavailable" || policy.error !== undefined) {
    states.push({ tone: "bad", symbol: "✕", word: "unavailable" });
  }
  if (policy.outdated !== undefined) states.push({ tone: "warn", symbol: "△", word: "outdated" });
  if (policy.mode === "monitor") states.push({ tone: "quiet", symbol: "◎", word: "monitor" });
  return states;
}

/** The kind of a policy, in one or two words: `group`, `WASM · extism`, `ValidatingAdmissionPolicy`. */
export function kindOf(policy: PagePolicy): string {
  if (policy.kind === "group") return "group";
  if (policy.kind === "wasm") return `WASM · ${policy.implementation}`;
  return policy.implementation || policy.kind;
}

/** Whether every word of a filter is in the policy's id, kind or state. Case does not matter. */
export function matchesFilter(policy: PagePolicy, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const states = statesOf(policy).map((state) => state.word);
  const mutating = policy.allowedToMutate ? "mutating" : "";
  const text = [policy.id, kindOf(policy), policy.kind, mutating, ...states].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** `12 policies, 1 unavailable`. */
export function countOf(policies: readonly PagePolicy[]): string {
  const unavailable = policies.filter((policy) => statesOf(policy)[0]?.word === "unavailable").length;
  const all = policies.length === 1 ? "1 policy" : `${policies.length} policies`;
  return unavailable === 0 ? all : `${all}, ${unavailable} unavailable`;
}

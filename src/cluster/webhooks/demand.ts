/** What a policy wants to be asked about: what a webhook's configuration can say of it. */
import type { LabelSelector } from "../../kinds/shared/match/label-selector.js";

/** A rule of a webhook; every list has at least one word. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: "*" | "Namespaced" | "Cluster";
}

/** A condition that the API server evaluates before it asks. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * What a policy wants to be asked about. The one rule of it: everything that the policy judges is in it. A webhook can't say all that policies can
 * (names, excluded rules, several bindings); it then asks about more, and the policy itself, which looks at its own constraints again, says that it does not apply.
 */
export interface Demand {
  /** None: it is never asked. */
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchConditions: readonly MatchCondition[];
  readonly matchPolicy: string;
  readonly failurePolicy: string;
  readonly sideEffects: string;
  /** Seconds. */
  readonly timeoutSeconds: number;
}

/** A policy that wants to be asked. */
export interface AskedPolicy {
  /** The id under which it is served. */
  readonly id: string;
  readonly demand: Demand;
  readonly mutating: boolean;
  /** Whether it may be asked together with others, and about more than it demands: it looks at all of that again, and does not apply to the rest. */
  readonly shares: boolean;
  /** Of its webhook's name, behind the id. */
  readonly domain: string;
  /** The only namespace that it is about; absent: all, and cluster-scoped objects. */
  readonly namespace?: string;
  /** Asked about the server's own namespace, too. */
  readonly insideOwnNamespace?: boolean;
}

/** Seconds that the API server waits where a policy does not say. */
export const DEFAULT_TIMEOUT_SECONDS = 10;

/** The most seconds that a webhook may have (the API server's own limit). */
const LONGEST_TIMEOUT_SECONDS = 30;

/** A time-out as the API server takes it. */
export function timeoutOf(seconds: unknown): number {
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 1) return DEFAULT_TIMEOUT_SECONDS;
  return Math.min(seconds, LONGEST_TIMEOUT_SECONDS);
}

/** `Ignore` where it is said, else `Fail`: a word that nobody knows must not let requests pass. */
export const failurePolicyOf = (written: unknown): string => (written === "Ignore" ? "Ignore" : "Fail");

/** `Exact` where it is said, else `Equivalent`, which asks about more. */
export const matchPolicyOf = (written: unknown): string => (written === "Exact" ? "Exact" : "Equivalent");

/** The requests that a policy must get, as a webhook's configuration can express them. */
import type { LabelSelector } from "../../kinds/shared/match/label-selector.js";

/** A rule of a webhook; every list has at least one item. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: "*" | "Namespaced" | "Cluster";
}

/** A condition that the API server evaluates before it calls the webhook. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * The requests that a policy must get: at least all that it judges. A webhook can't express everything that policies can
 * (names, excluded rules, several bindings); it then gets more requests, and the policy itself, which checks its own constraints again, does not apply to them.
 */
export interface Demand {
  /** Empty: the policy is never asked. */
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

/** A policy with a webhook. */
export interface AskedPolicy {
  /** The id under which it is served. */
  readonly id: string;
  readonly demand: Demand;
  readonly mutating: boolean;
  /** Whether it may share a webhook with others, and get more requests than it demands: it checks all of them again, and does not apply to the rest. */
  readonly shares: boolean;
  /** The reinvocationPolicy of its webhook, where that is a mutating one; absent: `Never`. */
  readonly reinvocation?: "Never" | "IfNeeded";
  /** The end of its webhook's name, after the id. */
  readonly domain: string;
  /** The only namespace of its requests; absent: all, and cluster-scoped objects. */
  readonly namespace?: string;
  /** Whether it also gets requests about the server's own namespace. */
  readonly insideOwnNamespace?: boolean;
}

/** The default time-out of the API server in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 10;

/** Longest time-out of a webhook in seconds (the API server's own limit). */
const LONGEST_TIMEOUT_SECONDS = 30;

/** A time-out within the API server's limits. */
export function timeoutOf(seconds: unknown): number {
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 1) return DEFAULT_TIMEOUT_SECONDS;
  return Math.min(seconds, LONGEST_TIMEOUT_SECONDS);
}

/** `Ignore` where it is written, else `Fail`: an unknown word must not let requests pass. */
export const failurePolicyOf = (written: unknown): string => (written === "Ignore" ? "Ignore" : "Fail");

/** `Exact` where it is written, else `Equivalent`, which covers more. */
export const matchPolicyOf = (written: unknown): string => (written === "Exact" ? "Exact" : "Equivalent");

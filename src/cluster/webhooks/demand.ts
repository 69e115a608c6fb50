/** The requests that a policy must get, as a webhook's configuration can express them. */
import type { LabelSelector } from "../../kinds/shared/match/label-selector.js";
import { isObject } from "../../kubernetes/object.js";

/** A rule of a webhook; every list has at least one item. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: "*" | "Namespaced" | "Cluster";
}

/** A rule with a resource's group and name, and the names of objects, which a webhook can't express. */
export interface NamedRule extends WebhookRule {
  /** Empty: all. */
  readonly resourceNames: readonly string[];
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
  /** The rules among them that name what wildcards leave out (see `rulesByName`). */
  readonly named: readonly NamedRule[];
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
  /** Whether it may ask the API server about rights: by `authorizer`, or by a module that may call `kubernetes/can_i`. */
  readonly asksAboutRights?: boolean;
  /** Whether it is one of Kubernetes' own policies: it decides as it does in the API server. */
  readonly isAdmissionPolicy?: true;
  /** Whether it skips requests that Kubernetes' own policies never judge (`exemption`). */
  readonly hasExemptions?: boolean;
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

/** The names by which an expression can ask about rights: `authorizer`, and Kyverno's `resource.Post`, which can make an access review. */
const ASKS_ABOUT_RIGHTS = /\bauthorizer\b|\bresource\b.*\bPost\b/s;

/** Whether some expression of a policy may ask about rights: a text in any key such as `expression`, `messageExpression`, `valueExpression`. */
export function expressionsAskAboutRights(value: unknown, key = ""): boolean {
  if (typeof value === "string") return /expression$/i.test(key) && ASKS_ABOUT_RIGHTS.test(value);
  if (Array.isArray(value)) return value.some((each) => expressionsAskAboutRights(each, key));
  return isObject(value) && Object.entries(value).some(([each, below]) => expressionsAskAboutRights(below, each));
}

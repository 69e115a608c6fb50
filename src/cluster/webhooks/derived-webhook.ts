import type { LabelSelector } from "../../kinds/shared/match/label-selector.js";
import type { MatchCondition, WebhookRule } from "./demand.js";

/** A webhook as policies demand it: its whole configuration except the server's address. */
export interface DerivedWebhook {
  readonly type: "validating" | "mutating";
  /** Unique among those of a type. */
  readonly name: string;
  /** `/validate/<id>`, or `/validate/set/<hash>`. */
  readonly path: string;
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchConditions: readonly MatchCondition[];
  /** The conditions that suffice where an API server does not accept all: its policies check the others again. Absent: none do. */
  readonly leastConditions?: readonly MatchCondition[];
  readonly matchPolicy: string;
  /** Whether it asks MutatingAdmissionPolicies of the cluster; absent: it does not. */
  readonly inOnePass?: true;
  /** Of a mutating one; absent: `Never`. */
  readonly reinvocation?: "Never" | "IfNeeded";
  readonly failurePolicy: string;
  readonly sideEffects: string;
  /** Seconds. */
  readonly timeoutSeconds: number;
  /** Ids of the policies that it calls, sorted. */
  readonly members: readonly string[];
}

/** Why a policy has no webhook, or one that differs from its definition. */
export interface WebhookProblem {
  /** The policy's id. */
  readonly id: string;
  readonly text: string;
}

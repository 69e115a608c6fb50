import type { LabelSelector } from "../../kinds/shared/match/label-selector.js";
import type { MatchCondition, WebhookRule } from "./demand.js";

/** A webhook as policies want it: all of its configuration but where its server is. */
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
  /** The conditions that are enough where an API server does not take all: its policies look at the others again. Absent: none are. */
  readonly leastConditions?: readonly MatchCondition[];
  readonly matchPolicy: string;
  readonly failurePolicy: string;
  readonly sideEffects: string;
  /** Seconds. */
  readonly timeoutSeconds: number;
  /** Ids of the policies that it asks, sorted. */
  readonly members: readonly string[];
}

/** Why a policy is not asked, or not as it is written. */
export interface WebhookProblem {
  /** Of the policy. */
  readonly id: string;
  readonly text: string;
}

/**
 * Decides which webhooks are to exist now. A new one is added when every live replica answers it, and until then those that it replaces stay: there is no
 * moment without a webhook. The webhook of a removed policy is removed at once, because replicas still serve it for a while.
 */
import type { StandingWebhook } from "./configuration.js";
import type { DerivedWebhook } from "./derived-webhook.js";

/** The inputs of the decision. */
export interface RolloutFacts {
  readonly desired: readonly DerivedWebhook[];
  readonly standing: readonly StandingWebhook[];
  /** Whether all replicas answer a path. */
  readonly isServed: (path: string) => boolean;
  /** The policies of a path; `undefined` where they are not known, as after a restart. */
  readonly membersOf: (path: string) => readonly string[] | undefined;
  /** Whether the policies of a path may exist without being known: they could not be read. */
  readonly isUnread: (path: string) => boolean;
  /** Whether the API server has refused a webhook as it is. */
  readonly isRefused: (webhook: DerivedWebhook) => boolean;
}

/** The decision. */
export interface Rollout {
  /** Webhooks to be written as they are derived. */
  readonly wanted: readonly DerivedWebhook[];
  /** Webhooks to be kept as they are found. */
  readonly kept: readonly StandingWebhook[];
  /** Webhooks that must wait. */
  readonly waiting: readonly DerivedWebhook[];
}

const keyOf = ({ type, name }: Pick<StandingWebhook, "type" | "name">): string => `${type} ${name}`;

/** Decides. */
export function rollout({ desired, standing, isServed, membersOf, isUnread, isRefused }: RolloutFacts): Rollout {
  const found = new Map(standing.map((each) => [keyOf(each), each]));
  const wanted: DerivedWebhook[] = [];
  const kept: StandingWebhook[] = [];
  const waiting: DerivedWebhook[] = [];
  for (const webhook of desired) {
    const former = found.get(keyOf(webhook));
    // An existing one is called already, even at a replica that has just started and does not serve anything yet.
    const mayStand = former?.path === webhook.path || isServed(webhook.path);
    if (mayStand && !isRefused(webhook)) wanted.push(webhook);
    else {
      waiting.push(webhook);
      if (former !== undefined) kept.push(former);
    }
  }
  const missed = new Set(waiting.flatMap(({ members }) => members));
  const names = new Set(desired.map(keyOf));
  for (const each of standing) {
    if (names.has(keyOf(each))) continue;
    const members = membersOf(each.path);
    const isMissed = missed.size > 0 && (members === undefined || members.some((id) => missed.has(id)));
    if (isMissed || isUnread(each.path)) kept.push(each);
  }
  return { wanted, kept, waiting };
}

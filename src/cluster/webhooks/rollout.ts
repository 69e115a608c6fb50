/**
 * Which webhooks are to stand now. One appears when every live replica answers it, and until then those that it replaces stay: there is no moment in which
 * nobody asks. What is asked about a policy that is gone goes at once, for replicas go on serving it for a while.
 */
import type { StandingWebhook } from "./configuration.js";
import type { DerivedWebhook } from "./derived-webhook.js";

/** What is known when it is decided. */
export interface RolloutFacts {
  readonly desired: readonly DerivedWebhook[];
  readonly standing: readonly StandingWebhook[];
  /** Whether all replicas answer a path. */
  readonly isServed: (path: string) => boolean;
  /** The policies that are asked at a path; `undefined` where that is not known, as after a restart. */
  readonly membersOf: (path: string) => readonly string[] | undefined;
  /** Whether the policies that are asked at a path may be there without anybody knowing: they could not be read. */
  readonly isUnread: (path: string) => boolean;
  /** Whether the API server has refused a webhook as it is. */
  readonly isRefused: (webhook: DerivedWebhook) => boolean;
}

/** What is to be done. */
export interface Rollout {
  /** To stand as they are derived. */
  readonly wanted: readonly DerivedWebhook[];
  /** To stand as they are found. */
  readonly kept: readonly StandingWebhook[];
  /** Not yet to stand. */
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
    // One that stands is asked already, by a replica that has just started and does not yet serve anything, too.
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

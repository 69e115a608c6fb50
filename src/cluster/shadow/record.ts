/**
 * How far a version in shadow has come: since when all replicas count, and what it would have denied. The leader notes it in the policy's annotation, so that nothing is
 * forgotten with a leader or a replica: what gets lost makes no promotion easier.
 */

import type { Promotion } from "../../config/from-cluster/rollout-annotations.js";
import { counted } from "../../data/counted.js";
import { parsePlainJson } from "../../data/json.js";
import { NONE, SHADOW_RESULTS, type ShadowCounts } from "../../policy/served/shadow/tally.js";
import type { Standing } from "./replica-counts.js";

/** As it is noted. */
export interface ShadowRecord {
  readonly version: string;
  /** Milliseconds since 1970: when the time began that it must be in shadow. Moved on by times in which not all replicas told of it. */
  readonly since: number;
  /** Milliseconds since 1970: since when not all tell. */
  readonly held?: number;
  /** Denials that were counted by instances that have gone. */
  readonly denied: number;
  /** Instances that count, and how often each had lost something. */
  readonly from: Readonly<Record<string, number>>;
}

/** A record with what is known beside it. */
export interface Progress {
  readonly record: ShadowRecord;
  /** Sums over live replicas. */
  readonly counts: ShadowCounts;
  /** Requests that it would have denied, or could not decide, also those that replicas counted that have gone. */
  readonly denied: number;
  /** Milliseconds that it has been in shadow, with all replicas telling. */
  readonly passed: number;
  /** Replicas that do not tell of it. */
  readonly silent: readonly string[];
}

/**
 * What has become of a version since the record was noted.
 * @param noted absent, or of another version: it begins now
 * @param now milliseconds since 1970
 */
export function progressOf(
  version: string,
  noted: ShadowRecord | undefined,
  standing: Standing,
  now: number,
): Progress {
  const before = noted?.version === version ? noted : { version, since: now, denied: 0, from: {} };
  let { since, held, denied }: { since: number; held?: number; denied: number } = before;
  const from: Record<string, number> = {};
  for (const [instance, lost] of Object.entries(before.from)) {
    const live = standing.told.get(instance);
    if (live !== undefined && live.lost === lost) continue;
    const last = live === undefined ? standing.lastWord(instance) : undefined;
    denied += last?.counts === undefined ? 0 : denialsOf(last.counts);
    // What it counted last nobody knows: the time begins anew.
    if (last?.isEnded !== true) {
      since = now;
      if (held !== undefined) held = now;
    }
  }
  for (const [instance, { lost }] of standing.told) from[instance] = lost;
  if (standing.silent.length > 0) held ??= now;
  else if (held !== undefined) {
    since += now - held;
    held = undefined;
  }
  const counts = sumOf(Array.from(standing.told.values(), (told) => told.counts));
  return {
    record: { version, since, ...(held !== undefined && { held }), denied, from },
    counts,
    denied: denied + denialsOf(counts),
    passed: (held ?? now) - since,
    silent: standing.silent,
  };
}

/** Why a version is not promoted by itself; undefined when it is to be. */
export function whyNotYet({ after, atMost }: Promotion, progress: Progress): string | undefined {
  const { denied, passed, silent, counts } = progress;
  if (after === undefined) return "promoted by hand only";
  if (denied > atMost)
    return `not promoted by itself: it would have denied ${counted(denied, "request")}, and at most ${atMost} may be`;
  if (silent.length > 0) return `not promoted while replicas do not tell of it: ${silent.join(", ")}`;
  if (counts.notEvaluated > counts.agreed + counts.wouldAllow + counts.wouldDeny + counts.failed)
    return "not promoted by itself: it was asked about less than half of the requests";
  if (passed < after) return `promoted by itself in ${Math.ceil((after - passed) / MINUTE_MS)} min at the earliest`;
  return undefined;
}

const MINUTE_MS = 60_000;

/** As it is noted. */
export const recordText = (record: ShadowRecord): string => JSON.stringify(record);

/** A note; undefined for what is none. */
export function readRecord(text: unknown): ShadowRecord | undefined {
  let value: unknown;
  try {
    value = typeof text === "string" ? parsePlainJson(text) : undefined;
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { version, since, held, denied, from } = value as Record<string, unknown>;
  if (typeof version !== "string" || !isCount(since) || !isCount(denied)) return undefined;
  if ((held !== undefined && !isCount(held)) || typeof from !== "object" || from === null) return undefined;
  const instances = Object.entries(from).filter((entry): entry is [string, number] => isCount(entry[1]));
  return { version, since, ...(held !== undefined && { held }), denied, from: Object.fromEntries(instances) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const denialsOf = ({ wouldDeny, failed }: ShadowCounts): number => wouldDeny + failed;

function sumOf(all: readonly ShadowCounts[]): ShadowCounts {
  const sum = { ...NONE };
  for (const counts of all) for (const result of SHADOW_RESULTS) sum[result] += counts[result];
  return sum;
}

/**
 * The progress of a version in shadow: since when all replicas count, and what it would have denied. The leader stores it in the policy's annotation, so that a new
 * leader or replica continues it: lost counts never make a promotion easier.
 */

import type { Promotion } from "../../config/from-cluster/rollout-annotations.js";
import { counted } from "../../data/counted.js";
import { parsePlainJson } from "../../data/json.js";
import { NONE, SHADOW_RESULTS, type ShadowCounts } from "../../policy/served/shadow/tally.js";
import type { Standing } from "./replica-counts.js";

/** The stored record. */
export interface ShadowRecord {
  readonly version: string;
  /** Milliseconds since 1970: the beginning of the required time in shadow. Moved on by times in which not all replicas reported counts. */
  readonly since: number;
  /** Milliseconds since 1970: since when not all replicas report. */
  readonly held?: number;
  /** Denials counted by instances that have gone. */
  readonly denied: number;
  /** Instances that count, and the number of times that each had lost counts. */
  readonly from: Readonly<Record<string, number>>;
}

/** A record with the present counts. */
export interface Progress {
  readonly record: ShadowRecord;
  /** Sums over live replicas. */
  readonly counts: ShadowCounts;
  /** Requests that it would have denied, or could not decide, including counts of replicas that have gone. */
  readonly denied: number;
  /** Milliseconds in shadow with all replicas reporting. */
  readonly passed: number;
  /** Replicas that do not report. */
  readonly silent: readonly string[];
}

/**
 * The progress of a version since the record was stored.
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
    // Its latest counts are not known: the time begins anew.
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

/** Why a version is not promoted automatically; undefined when it is. */
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

/** The text of a record. */
export const recordText = (record: ShadowRecord): string => JSON.stringify(record);

/** Reads a record; undefined for an invalid one. */
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

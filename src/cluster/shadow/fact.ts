/** A replica's announcement about its versions in shadow: a fact in its Lease, kept short. */
import { parsePlainJson } from "../../data/json.js";
import { SHADOW_RESULTS, type ShadowCounts, type ShadowRow } from "../../policy/served/shadow/tally.js";

/** The key of the fact. */
export const SHADOW_FACT = "shadow";

/** Most versions in it: some 30 KiB of the 200 that may be announced. Further ones are promoted by hand only. */
export const MAX_TOLD = 500;

/** One replica's counts of one version. */
export interface ToldCounts extends ShadowCounts {
  /** Whether it could not be loaded there. */
  readonly isBroken: boolean;
}

/** The contents of the announcement. */
export interface ShadowFact {
  /** The process that counts: another one after a restart, which begins at zero. */
  readonly instance: string;
  /** Number of times that some counts were lost. */
  readonly lost: number;
  /** Whether it has stopped counting: this is its final announcement. */
  readonly isEnded: boolean;
  /** Whether some of its processes have not reported their counts: there may be more. */
  readonly isStale: boolean;
  /** Counts by version. */
  readonly counts: ReadonlyMap<string, ToldCounts>;
}

/** The text of the announcement. */
export function factText(
  { instance, lost, isEnded, isStale }: Omit<ShadowFact, "counts">,
  rows: readonly ShadowRow[],
): string {
  const told = rows
    .map((row) => [row.version, [...SHADOW_RESULTS.map((result) => row[result]), row.isBroken ? 1 : 0]] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MAX_TOLD);
  return JSON.stringify({ instance, lost, ended: isEnded, stale: isStale, counts: Object.fromEntries(told) });
}

/** Reads a replica's announcement; undefined for any other text. */
export function readFact(text: string | undefined): ShadowFact | undefined {
  let value: unknown;
  try {
    value = parsePlainJson(text ?? "");
  } catch {
    return undefined;
  }
  const { instance, lost, ended, stale, counts } = (value ?? {}) as Record<string, unknown>;
  if (typeof instance !== "string" || typeof lost !== "number" || typeof counts !== "object") return undefined;
  const read = new Map<string, ToldCounts>();
  for (const [version, numbers] of Object.entries(counts ?? {})) {
    const one = countsOf(numbers);
    if (one !== undefined) read.set(version, one);
  }
  return { instance, lost, isEnded: ended === true, isStale: stale === true, counts: read };
}

function countsOf(numbers: unknown): ToldCounts | undefined {
  if (!Array.isArray(numbers) || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0))
    return undefined;
  const [agreed, wouldDeny, wouldAllow, failed, notEvaluated, broken] = numbers as readonly (number | undefined)[];
  if (agreed === undefined || wouldDeny === undefined || wouldAllow === undefined) return undefined;
  if (failed === undefined || notEvaluated === undefined) return undefined;
  return { agreed, wouldDeny, wouldAllow, failed, notEvaluated, isBroken: broken !== 0 };
}

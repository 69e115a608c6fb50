/** What a replica tells the others of its versions in shadow: a fact in its Lease, kept short. */
import { parsePlainJson } from "../../data/json.js";
import { SHADOW_RESULTS, type ShadowCounts, type ShadowRow } from "../../policy/served/shadow/tally.js";

/** The key of the fact. */
export const SHADOW_FACT = "shadow";

/** Versions that a replica tells of: some 30 KiB of the 200 that it may announce. Those behind them are promoted by hand only. */
export const MAX_TOLD = 500;

/** What one replica has counted of one version. */
export interface ToldCounts extends ShadowCounts {
  /** Whether it could not be loaded there. */
  readonly isBroken: boolean;
}

/** What one replica tells. */
export interface ShadowFact {
  /** Of the process that counts: another one after a restart, which begins at nothing. */
  readonly instance: string;
  /** How often it has lost some of what it had counted. */
  readonly lost: number;
  /** Whether it counts no more: what it tells is its last word. */
  readonly isEnded: boolean;
  /** Whether some of its processes have not told what they have counted: there may be more. */
  readonly isStale: boolean;
  /** By version. */
  readonly counts: ReadonlyMap<string, ToldCounts>;
}

/** As it is announced. */
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

/** What a replica has announced; undefined for what is none of ours. */
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

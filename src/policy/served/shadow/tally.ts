/** What versions in shadow would have answered: counts, and a few examples of where that differs. Plain data, so that processes can add it up. */
import type { PolicySet } from "../policy-set.js";

/** Most examples of one version: enough to see what is the matter, and a screen to read. */
export const MAX_EXAMPLES = 10;

/**
 * What came of asking a version in shadow, next to the answer that was given: the same; denied what was allowed; allowed what was denied; could not decide,
 * which would be a denial; or was not asked, for want of time or room.
 */
export type ShadowResult = "agreed" | "wouldDeny" | "wouldAllow" | "failed" | "notEvaluated";

/** In the order in which they are shown. */
export const SHADOW_RESULTS: readonly ShadowResult[] = ["agreed", "wouldDeny", "wouldAllow", "failed", "notEvaluated"];

/** How often each. */
export type ShadowCounts = Readonly<Record<ShadowResult, number>>;

/** A request that would have been answered differently: its names, never its objects. */
export interface ShadowExample {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly result: Exclude<ShadowResult, "agreed" | "notEvaluated">;
  readonly operation?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** Why it would be denied; of one that would be allowed, why it was denied. */
  readonly message?: string;
}

/** What is known of one version. */
export interface ShadowRow extends ShadowCounts {
  readonly id: string;
  readonly version: string;
  /** Milliseconds since 1970: when it began to be asked. */
  readonly since: number;
  /** The latest, the oldest first. */
  readonly examples: readonly ShadowExample[];
  /** Whether it could not be loaded, and fails whatever it is asked. */
  readonly isBroken: boolean;
}

/** What all processes have counted, or why that is not known. */
export type ShadowRows = readonly ShadowRow[] | { readonly unavailable: string };

/** Counts of several versions. */
export class ShadowTally {
  readonly #rows = new Map<string, Row>();

  /** All, in the order in which they came. */
  get rows(): readonly ShadowRow[] {
    return [...this.#rows.values()].map((row) => ({ ...row, examples: [...row.examples] }));
  }

  /** What was counted of one version. */
  row(id: string, version: string): ShadowRow | undefined {
    return this.#rows.get(keyOf(id, version));
  }

  /**
   * Counts for the versions of this set from now on: those that were there go on, all others are forgotten.
   * @param now milliseconds since 1970
   */
  follow(policies: PolicySet, now: number): void {
    const current = new Set<string>();
    for (const { id, shadow } of policies.entries.values()) {
      if (shadow === undefined) continue;
      current.add(keyOf(id, shadow.version));
      this.#begin(id, shadow.version, now).isBroken = shadow.entry.unavailable !== undefined;
    }
    for (const key of this.#rows.keys()) if (!current.has(key)) this.#rows.delete(key);
  }

  /** Counts; a version that is not followed any more is none to count for. Returns whether it was counted. */
  count(id: string, version: string, result: ShadowResult, example?: ShadowExample): boolean {
    const row = this.#rows.get(keyOf(id, version));
    if (row === undefined) return false;
    row[result] += 1;
    if (example !== undefined) keepLatest(row, [example]);
    return true;
  }

  /** Hands out what was counted since the last time, versions without any among it, and begins again at nothing. */
  take(): ShadowRow[] {
    const taken = this.rows;
    for (const row of this.#rows.values()) {
      for (const result of SHADOW_RESULTS) row[result] = 0;
      row.examples = [];
    }
    return [...taken];
  }

  /** Adds what another process has counted. */
  add(rows: readonly ShadowRow[]): void {
    for (const { id, version, since, examples, isBroken, ...counts } of rows) {
      const row = this.#begin(id, version, since);
      row.isBroken = isBroken;
      row.since = Math.min(row.since, since);
      for (const result of SHADOW_RESULTS) row[result] += counts[result];
      keepLatest(row, examples);
    }
  }

  /** Forgets all versions but these. */
  keep(versions: readonly Pick<ShadowRow, "id" | "version">[]): void {
    const kept = new Set(versions.map(({ id, version }) => keyOf(id, version)));
    for (const key of this.#rows.keys()) if (!kept.has(key)) this.#rows.delete(key);
  }

  #begin(id: string, version: string, since: number): Row {
    const key = keyOf(id, version);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row: Row = { id, version, since, ...NONE, examples: [], isBroken: false };
    this.#rows.set(key, row);
    return row;
  }
}

/** Nothing yet. */
export const NONE: ShadowCounts = { agreed: 0, wouldDeny: 0, wouldAllow: 0, failed: 0, notEvaluated: 0 };

interface Row extends Record<ShadowResult, number> {
  readonly id: string;
  readonly version: string;
  since: number;
  examples: ShadowExample[];
  isBroken: boolean;
}

const keyOf = (id: string, version: string): string => `${id}\u0000${version}`;

/** Processes may tell in any order, each of them in its own. */
function keepLatest(row: Row, examples: readonly ShadowExample[]): void {
  if (examples.length === 0) return;
  row.examples = [...row.examples, ...examples].sort((a, b) => a.at - b.at).slice(-MAX_EXAMPLES);
}

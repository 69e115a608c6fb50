/** Counts answers of versions in shadow, with a few examples of differences. Plain data, so that processes can add it up. */
import type { PolicySet } from "../policy-set.js";

/** Most examples of one version: enough to see the reason, and as much as a screen shows. */
export const MAX_EXAMPLES = 10;

/**
 * The result of evaluating a version in shadow, compared with the answer that was given: the same; denied what was allowed; allowed what was denied;
 * could not decide, which would be a denial; or was skipped, for lack of time or room.
 */
export type ShadowResult = "agreed" | "wouldDeny" | "wouldAllow" | "failed" | "notEvaluated";

/** All results, in the order of display. */
export const SHADOW_RESULTS: readonly ShadowResult[] = ["agreed", "wouldDeny", "wouldAllow", "failed", "notEvaluated"];

/** Count of each result. */
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
  /** The reason why it would be denied, or was denied. */
  readonly message?: string;
}

/** Counts and examples of one version. */
export interface ShadowRow extends ShadowCounts {
  readonly id: string;
  readonly version: string;
  /** Milliseconds since 1970: its first evaluation. */
  readonly since: number;
  /** The latest examples, the oldest first. */
  readonly examples: readonly ShadowExample[];
  /** Whether it could not be loaded, and fails for each request. */
  readonly isBroken: boolean;
}

/** The counts of all processes, or the reason why they are not known. */
export type ShadowRows = readonly ShadowRow[] | { readonly unavailable: string };

/** Counts of several versions. */
export class ShadowTally {
  readonly #rows = new Map<string, Row>();

  /** All rows, in the order in which they were added. */
  get rows(): readonly ShadowRow[] {
    return [...this.#rows.values()].map((row) => ({ ...row, examples: [...row.examples] }));
  }

  /** The counts of one version. */
  row(id: string, version: string): ShadowRow | undefined {
    return this.#rows.get(keyOf(id, version));
  }

  /**
   * Counts for the versions of this set from now on: versions that it had before keep their counts, all others are forgotten.
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

  /** Counts a result, unless its version is no longer followed. Returns whether it was counted. */
  count(id: string, version: string, result: ShadowResult, example?: ShadowExample): boolean {
    const row = this.#rows.get(keyOf(id, version));
    if (row === undefined) return false;
    row[result] += 1;
    if (example !== undefined) keepLatest(row, [example]);
    return true;
  }

  /** Returns the counts since the last call, those of versions without any too, and resets them. */
  take(): ShadowRow[] {
    const taken = this.rows;
    for (const row of this.#rows.values()) {
      for (const result of SHADOW_RESULTS) row[result] = 0;
      row.examples = [];
    }
    return [...taken];
  }

  /** Adds the counts of another process. */
  add(rows: readonly ShadowRow[]): void {
    for (const { id, version, since, examples, isBroken, ...counts } of rows) {
      const row = this.#begin(id, version, since);
      row.isBroken = isBroken;
      row.since = Math.min(row.since, since);
      for (const result of SHADOW_RESULTS) row[result] += counts[result];
      keepLatest(row, examples);
    }
  }

  /** Removes all versions but these. */
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

/** Counts of 0. */
export const NONE: ShadowCounts = { agreed: 0, wouldDeny: 0, wouldAllow: 0, failed: 0, notEvaluated: 0 };

interface Row extends Record<ShadowResult, number> {
  readonly id: string;
  readonly version: string;
  since: number;
  examples: ShadowExample[];
  isBroken: boolean;
}

const keyOf = (id: string, version: string): string => `${id}\u0000${version}`;

/** Keeps the latest examples: processes report in any order, each in the order of its own. */
function keepLatest(row: Row, examples: readonly ShadowExample[]): void {
  if (examples.length === 0) return;
  row.examples = [...row.examples, ...examples].sort((a, b) => a.at - b.at).slice(-MAX_EXAMPLES);
}

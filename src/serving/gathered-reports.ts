import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { Child } from "./fleet.js";
import type { LoadedByProcess } from "./prepared-answers.js";

/** One that waits is worse than one that is unavailable: as long as any process does, nobody is to be told that the policy is answered for. */
const BADNESS = { loaded: 0, "last-good": 1, unavailable: 2, waiting: 3, refused: 4 } as const;

/**
 * What became of the cluster's policies in all processes that answer requests. Of what they say about the same policy the worst counts: one of them may not
 * have got a module.
 */
export class GatheredReports {
  /** By number of the process, then by key. */
  readonly #said = new Map<number, Map<string, LoadedPolicyReport>>();
  /** What counts, by key; it stays when nobody is left who says otherwise. */
  readonly #counts = new Map<string, LoadedPolicyReport>();

  /**
   * Takes what processes say. Of one that says it of everything counts no more what it said before.
   * @returns what counts from now on, where that is another than before: one report a key
   */
  take(all: Iterable<readonly [Pick<Child, "id">, LoadedByProcess]>): LoadedPolicyReport[] {
    const keys = new Set<string>();
    for (const [{ id }, { reports, isWhole }] of all) {
      const before = this.#said.get(id) ?? new Map<string, LoadedPolicyReport>();
      if (isWhole) for (const key of before.keys()) keys.add(key);
      const said = isWhole ? new Map<string, LoadedPolicyReport>() : before;
      for (const report of reports) {
        said.set(report.key, report);
        keys.add(report.key);
      }
      this.#said.set(id, said);
    }
    return this.#count(keys);
  }

  /**
   * A process has ended.
   * @returns as {@link take}
   */
  ended(process: number): LoadedPolicyReport[] {
    const said = this.#said.get(process);
    this.#said.delete(process);
    return this.#count(said?.keys() ?? []);
  }

  /** Forgets policies that are gone from the cluster. */
  keepOnly(has: (key: string) => boolean): void {
    for (const reports of [this.#counts, ...this.#said.values()])
      for (const key of reports.keys()) if (!has(key)) reports.delete(key);
  }

  #count(keys: Iterable<string>): LoadedPolicyReport[] {
    const changed: LoadedPolicyReport[] = [];
    for (const key of keys) {
      const worst = this.#worst(key);
      if (worst === undefined || isSame(worst, this.#counts.get(key))) continue;
      this.#counts.set(key, worst);
      changed.push(worst);
    }
    return changed;
  }

  #worst(key: string): LoadedPolicyReport | undefined {
    let worst: LoadedPolicyReport | undefined;
    for (const reports of this.#said.values()) {
      const report = reports.get(key);
      if (report === undefined) continue;
      const worse = worst === undefined ? 1 : BADNESS[report.state] - BADNESS[worst.state];
      if (worse > 0 || (worse === 0 && report.generation > (worst?.generation ?? 0))) worst = report;
    }
    return worst;
  }
}

const isSame = (one: LoadedPolicyReport, other: LoadedPolicyReport | undefined): boolean =>
  other !== undefined && JSON.stringify(one) === JSON.stringify(other);

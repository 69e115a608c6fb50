import type { LoadedPolicyReport } from "../config/from-cluster/cluster-document.js";
import type { Child } from "./fleet.js";
import type { LoadedByProcess } from "./prepared-answers.js";

/** Order of states: waiting is worse than unavailable, since no policy counts as answered for while a process waits. */
const BADNESS = { loaded: 0, "last-good": 1, unavailable: 2, waiting: 3, refused: 4 } as const;

/** States of the cluster's policies in all serving processes. The worst state of a policy counts: one of the processes may not have got a module. */
export class GatheredReports {
  /** Reports, by process, then by key. */
  readonly #said = new Map<number, Map<string, LoadedPolicyReport>>();
  /** The reports that count, by key; they stay after the last process ends. */
  readonly #counts = new Map<string, LoadedPolicyReport>();

  /**
   * Takes processes' reports. A report on all policies replaces the process' earlier ones.
   * @returns the reports that have changed, one for each key
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
   * Removes an ended process.
   * @returns as {@link take}
   */
  ended(process: number): LoadedPolicyReport[] {
    const said = this.#said.get(process);
    this.#said.delete(process);
    return this.#count(said?.keys() ?? []);
  }

  /** Removes policies that were deleted from the cluster. */
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

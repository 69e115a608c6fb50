/** Results of objects, shared by all objects with the same ones: most pass all policies of their kind. */
import type { Status } from "../../offline/reports/finding.js";
import { MAX_PATTERNS } from "./audit-limits.js";

/** Results of an object, by policy id. */
export type Results = ReadonlyMap<string, Status>;

interface Pattern {
  readonly key: string;
  readonly results: Results;
  /** Objects of this round. */
  objects: number;
}

/** Sets of results by numbers from 1. */
export class ResultPatterns {
  readonly #most: number;
  readonly #byKey = new Map<string, number>();
  readonly #patterns = new Map<number, Pattern>();
  #next = 1;

  constructor(most = MAX_PATTERNS) {
    this.#most = most;
  }

  /**
   * The number of a set; 0 when there are too many.
   * @param results the status of each policy that matches the object, by its id, in order
   */
  numberOf(results: readonly (readonly [id: string, status: Status])[]): number {
    const key = JSON.stringify(results);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (this.#patterns.size >= this.#most) return 0;
    const number = this.#next++;
    this.#byKey.set(key, number);
    this.#patterns.set(number, { key, results: new Map(results), objects: 0 });
    return number;
  }

  /** Counts an object of this round. */
  count(number: number): void {
    const pattern = this.#patterns.get(number);
    if (pattern !== undefined) pattern.objects += 1;
  }

  /** Number of this round's objects, by set. */
  *counted(): Iterable<{ readonly results: Results; readonly objects: number }> {
    for (const { results, objects } of this.#patterns.values()) if (objects > 0) yield { results, objects };
  }

  /** Begins a round. */
  begin(): void {
    for (const pattern of this.#patterns.values()) pattern.objects = 0;
  }

  /** Removes sets that no object has had in this round: their numbers must no longer be in use. */
  forgetOthers(): void {
    for (const [number, { key, objects }] of this.#patterns) {
      if (objects > 0) continue;
      this.#patterns.delete(number);
      this.#byKey.delete(key);
    }
  }
}

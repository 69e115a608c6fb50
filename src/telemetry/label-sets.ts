/**
 * The combinations of labels that a metric shows. Their number is limited: requesters choose namespaces and kinds, but must not decide how
 * much memory they take or how long a scrape lasts. A combination that is shown once stays, so a counter never decreases; one that no
 * longer fits is counted with `other` in place of the requester's values, so that the policy and its verdict are still shown.
 */

/** Stands for the values that no longer fit. */
export const OTHER = "other";
/** Longest value of a label that a request chooses: names of Kubernetes have at most 253 characters. */
const MAX_CHOSEN_CHARACTERS = 253;

/** The values of a metric's labels, in the order of its label names; undefined (null between processes) leaves the label out. */
export type LabelValues = readonly (string | null | undefined)[];

/** Most combinations that are shown. */
export interface LabelLimits {
  /** Combinations with values that a requester chose. */
  readonly chosen: number;
  /** Combinations with values from the configuration and the code only, or with `other` for those that a requester chose. */
  readonly fixed: number;
}

/** The entry in which something is counted. */
export interface Place<T> {
  readonly entry: T;
  /** Whether it stands for more than the requested labels. */
  readonly folded: boolean;
}

/** One entry for each combination, and shared ones for the rest. */
export class LabelSets<T> {
  readonly #chosen: readonly number[];
  readonly #limits: LabelLimits;
  readonly #create: (values: LabelValues) => T;
  readonly #known = new Map<string, Place<T>>();
  #chosenCount = 0;
  /** The last values, which are often repeated: comparing them takes a third of the time of joining them. */
  #lastValues: LabelValues = [];
  #lastPlace: Place<T> | undefined;

  /**
   * @param chosen positions of the labels whose values requesters choose
   * @param create makes the entry of a combination
   */
  constructor(chosen: readonly number[], limits: LabelLimits, create: (values: LabelValues) => T) {
    this.#chosen = chosen;
    this.#limits = limits;
    this.#create = create;
  }

  /** The entry for these values, which may be a shared one. */
  find(values: LabelValues): Place<T> {
    if (this.#lastPlace !== undefined && sameValues(values, this.#lastValues)) return this.#lastPlace;
    const key = values.join("\u0000");
    const place = this.#known.get(key) ?? this.#place(key, values);
    this.#lastValues = values;
    this.#lastPlace = place;
    return place;
  }

  /** All entries, in order of their creation. */
  *entries(): Iterable<T> {
    for (const { entry } of this.#known.values()) yield entry;
  }

  #place(key: string, values: LabelValues): Place<T> {
    if (this.#fixed(values)) return this.#addFixed(key, values) ?? this.#shared(values);
    if (this.#chosenCount < this.#limits.chosen && !this.#tooLong(values)) {
      this.#chosenCount += 1;
      return this.#add(key, values);
    }
    const folded = values.map((value, index) => (this.#chosen.includes(index) && value != null ? OTHER : value));
    const foldedKey = folded.join("\u0000");
    const place = this.#known.get(foldedKey) ?? this.#addFixed(foldedKey, folded) ?? this.#shared(values);
    return { entry: place.entry, folded: true };
  }

  /** Whether no value was chosen by a requester. */
  #fixed(values: LabelValues): boolean {
    return this.#chosen.every((index) => values[index] == null || values[index] === OTHER);
  }

  #tooLong(values: LabelValues): boolean {
    return this.#chosen.some((index) => (values[index]?.length ?? 0) > MAX_CHOSEN_CHARACTERS);
  }

  #addFixed(key: string, values: LabelValues): Place<T> | undefined {
    return this.#known.size - this.#chosenCount < this.#limits.fixed ? this.#add(key, values) : undefined;
  }

  /** The shared entry for values that do not fit. */
  #shared(values: LabelValues): Place<T> {
    const all = values.map(() => OTHER);
    const key = all.join("\u0000");
    const { entry } = this.#known.get(key) ?? this.#add(key, all);
    return { entry, folded: true };
  }

  #add(key: string, values: LabelValues): Place<T> {
    const place = { entry: this.#create(values), folded: false };
    this.#known.set(key, place);
    return place;
  }
}

function sameValues(a: LabelValues, b: LabelValues): boolean {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return a.length === b.length;
}

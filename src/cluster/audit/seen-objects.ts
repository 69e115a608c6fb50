/**
 * Remembers objects from round to round: their evaluated state, their results, and their reports. Columns of numbers instead of objects: 26 bytes a
 * place, of which at least three in eight are in use.
 */
import { MAX_SEEN_OBJECTS } from "./audit-limits.js";
import { FIRST_SEED, hashText, SECOND_SEED } from "./text-hash.js";

/** First number of places; doubled when three quarters are in use. */
const FIRST_PLACES = 1024;
/** The round number of an empty place. */
const EMPTY = 0;

/** The columns, by place. */
class Columns {
  readonly keyA: Uint32Array;
  readonly keyB: Uint32Array;
  readonly stateA: Uint32Array;
  readonly stateB: Uint32Array;
  /** The set of its results, from 1. */
  readonly pattern: Uint32Array;
  /** Hash of its report's content; 0: none. */
  readonly report: Uint32Array;
  /** The round in which it was last listed; 0: the place is empty. */
  readonly round: Uint16Array;

  constructor(readonly places: number) {
    this.keyA = new Uint32Array(places);
    this.keyB = new Uint32Array(places);
    this.stateA = new Uint32Array(places);
    this.stateB = new Uint32Array(places);
    this.pattern = new Uint32Array(places);
    this.report = new Uint32Array(places);
    this.round = new Uint16Array(places);
  }
}

/** Highest number of a round in a column; then they begin anew. */
const MAX_ROUND = 0xffff;

/** Objects by their uids. */
export class SeenObjects {
  readonly #most: number;
  #columns = new Columns(FIRST_PLACES);
  #size = 0;
  #round = 1;

  /** @param most remembered objects */
  constructor(most = MAX_SEEN_OBJECTS) {
    this.#most = most;
  }

  /** Number of remembered objects. */
  get size(): number {
    return this.#size;
  }

  /** Size in bytes. */
  get bytes(): number {
    return this.#columns.places * 26;
  }

  /** The object's place; -1 when it is unknown. Valid until the next {@link add}. */
  find(uid: string): number {
    const keyA = hashText(uid, FIRST_SEED);
    const keyB = hashText(uid, SECOND_SEED);
    const place = this.#placeOf(keyA, keyB);
    return this.#columns.round[place] === EMPTY ? -1 : place;
  }

  /** Adds the object, unless it is known; returns its place, -1 when there is no room for it. */
  add(uid: string): number {
    const known = this.find(uid);
    if (known >= 0) return known;
    if (this.#size >= this.#most) return -1;
    if ((this.#size + 1) * 4 > this.#columns.places * 3) this.#rehash(this.#columns.places * 2, () => true);
    const keyA = hashText(uid, FIRST_SEED);
    const keyB = hashText(uid, SECOND_SEED);
    const place = this.#placeOf(keyA, keyB);
    const columns = this.#columns;
    columns.keyA[place] = keyA;
    columns.keyB[place] = keyB;
    columns.stateA[place] = 0;
    columns.stateB[place] = 0;
    columns.pattern[place] = 0;
    columns.report[place] = 0;
    columns.round[place] = this.#round;
    this.#size += 1;
    return place;
  }

  /** Whether the object was evaluated in this state. */
  isIn(place: number, stateA: number, stateB: number): boolean {
    const columns = this.#columns;
    return columns.pattern[place] !== 0 && columns.stateA[place] === stateA && columns.stateB[place] === stateB;
  }

  /** Sets the evaluated state of the object, and its results; pattern 0: to be evaluated again. */
  evaluated(place: number, stateA: number, stateB: number, pattern: number): void {
    const columns = this.#columns;
    columns.stateA[place] = stateA;
    columns.stateB[place] = stateB;
    columns.pattern[place] = pattern;
  }

  /** Notes that the object was listed in this round. */
  meet(place: number): void {
    this.#columns.round[place] = this.#round;
  }

  /** Whether it was listed in this round. */
  isMet(place: number): boolean {
    return this.#columns.round[place] === this.#round;
  }

  patternOf(place: number): number {
    return this.#columns.pattern[place] ?? 0;
  }

  reportOf(place: number): number {
    return this.#columns.report[place] ?? 0;
  }

  setReport(place: number, report: number): void {
    this.#columns.report[place] = report;
  }

  /** Begins a round. */
  begin(): void {
    if (this.#round < MAX_ROUND) {
      this.#round += 1;
      return;
    }
    this.#round = 2;
    const { round } = this.#columns;
    for (let place = 0; place < round.length; place++) if (round[place] !== EMPTY) round[place] = 1;
  }

  /** Removes all that were not listed in this round. */
  forgetOthers(): void {
    let met = 0;
    for (const round of this.#columns.round) if (round === this.#round) met += 1;
    if (met === this.#size) return;
    let places = FIRST_PLACES;
    while (met * 4 > places * 3) places *= 2;
    const round = this.#round;
    this.#rehash(places, (of) => of === round);
  }

  /** Makes all objects be evaluated again: remembered reports stay. */
  forgetResults(): void {
    this.#columns.pattern.fill(0);
  }

  /** The place of a key, present or not. */
  #placeOf(keyA: number, keyB: number): number {
    const { keyA: a, keyB: b, round, places } = this.#columns;
    let place = keyA & (places - 1);
    while (round[place] !== EMPTY && (a[place] !== keyA || b[place] !== keyB)) place = (place + 1) & (places - 1);
    return place;
  }

  #rehash(places: number, keeps: (round: number) => boolean): void {
    const old = this.#columns;
    this.#columns = new Columns(places);
    this.#size = 0;
    for (let from = 0; from < old.places; from++) {
      const round = old.round[from] ?? EMPTY;
      if (round === EMPTY || !keeps(round)) continue;
      const to = this.#placeOf(old.keyA[from] ?? 0, old.keyB[from] ?? 0);
      for (const column of ["keyA", "keyB", "stateA", "stateB", "pattern", "report", "round"] as const) {
        this.#columns[column][to] = old[column][from] ?? 0;
      }
      this.#size += 1;
    }
  }
}

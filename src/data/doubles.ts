/** JSON as Go reads it into untyped values: every number is a double. */
import { setKey } from "./plain-object.js";

type Container = Readonly<Record<string, unknown>>;

/** Keys above which maps are copied key by key: copying one as a whole takes three times as long when it has a hundred thousand. */
const WIDE = 1_000;
/** Values of one list or map between two steps, */
const VALUES_A_STEP = 100;
/** and lists and maps: together they take less than a millisecond, unless most of them have that many values. */
const TURNS_A_STEP = 64;

/**
 * The value of the number model (`json.ts`) with doubles in place of integers. Parts without integers are shared with the original, because reviews of
 * many MiB are mostly texts; so the original must not change any more.
 */
export function withDoubles(value: unknown): unknown {
  if (!isContainer(value)) return leaf(value);
  return Array.isArray(value) ? list(value) : map(value as Container);
}

/**
 * The same in steps that take less than a millisecond, except for the listing of one map's keys and the copying of one list.
 * @param known the earlier result for a list or a map, if there is one
 */
export function* doublesInSteps(value: unknown, known: (part: object) => unknown): Generator<undefined, unknown> {
  if (!isContainer(value)) return leaf(value);
  const open = [partOf(value)];
  for (let turn = 1; ; turn++) {
    if (turn % TURNS_A_STEP === 0) yield;
    const part = open[open.length - 1] as Part;
    const inner = part.goOn(known);
    if (inner !== undefined) open.push(partOf(inner));
    else if (!part.isComplete) yield;
    else {
      open.pop();
      const around = open[open.length - 1];
      if (around === undefined) return part.made;
      around.put(part.made);
    }
  }
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Number);

/** A number as a double; a value that is neither that nor a container stays as it is. */
function leaf(value: unknown): unknown {
  if (typeof value !== "number" && typeof value !== "bigint") return value;
  const double = Number(value);
  return Number.isSafeInteger(double) ? Object(double) : double;
}

function list(value: readonly unknown[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const item = value[index];
    const made = withDoubles(item);
    if (made === item) continue;
    copy ??= value.slice();
    copy[index] = made;
  }
  return copy ?? value;
}

function map(value: Container): unknown {
  const keys = Object.keys(value);
  const isWide = keys.length > WIDE;
  let copy: Record<string, unknown> | undefined = isWide ? {} : undefined;
  let isOther = false;
  for (const key of keys) {
    const item = value[key];
    const made = typeof item === "string" ? item : withDoubles(item);
    if (made !== item) isOther = true;
    else if (!isWide) continue;
    copy ??= { ...value };
    setKey(copy, key, made);
  }
  return isOther ? copy : value;
}

/** A list or a map while its doubles are made. */
abstract class Part {
  /** Number of its values. */
  protected abstract readonly length: number;
  /** The result, once it is complete. */
  abstract readonly made: unknown;
  #next = 0;

  get isComplete(): boolean {
    return this.#next === this.length;
  }

  /** Continues for a step, up to a container: that one is to be converted first, and to be {@link put}. */
  goOn(known: (part: object) => unknown): object | undefined {
    const ends = Math.min(this.length, this.#next + VALUES_A_STEP);
    while (this.#next < ends) {
      const item = this.item(this.#next);
      if (!isContainer(item)) this.put(leaf(item));
      else {
        const made = known(item);
        if (made === undefined) return item;
        this.put(made);
      }
    }
    return undefined;
  }

  /** Adds the result for the next value. */
  put(made: unknown): void {
    const index = this.#next++;
    this.become(index, made, made !== this.item(index));
  }

  protected abstract item(index: number): unknown;
  protected abstract become(index: number, made: unknown, isOther: boolean): void;
}

class ListPart extends Part {
  protected readonly length: number;
  readonly #source: readonly unknown[];
  #copy: unknown[] | undefined;

  constructor(source: readonly unknown[]) {
    super();
    this.#source = source;
    this.length = source.length;
  }

  get made(): unknown {
    return this.#copy ?? this.#source;
  }

  protected item(index: number): unknown {
    return this.#source[index];
  }

  protected become(index: number, made: unknown, isOther: boolean): void {
    if (!isOther) return;
    this.#copy ??= this.#source.slice();
    this.#copy[index] = made;
  }
}

class MapPart extends Part {
  protected readonly length: number;
  readonly #source: Container;
  readonly #keys: readonly string[];
  readonly #isWide: boolean;
  #copy: Record<string, unknown> | undefined;
  #isOther = false;

  constructor(source: Container) {
    super();
    this.#source = source;
    this.#keys = Object.keys(source);
    this.length = this.#keys.length;
    this.#isWide = this.length > WIDE;
  }

  get made(): unknown {
    return this.#isOther ? this.#copy : this.#source;
  }

  protected item(index: number): unknown {
    return this.#source[this.#keys[index] as string];
  }

  protected become(index: number, made: unknown, isOther: boolean): void {
    this.#isOther ||= isOther;
    if (!isOther && !this.#isWide) return;
    this.#copy ??= this.#isWide ? {} : { ...this.#source };
    setKey(this.#copy, this.#keys[index] as string, made);
  }
}

const partOf = (value: object): Part =>
  Array.isArray(value) ? new ListPart(value as readonly unknown[]) : new MapPart(value as Container);

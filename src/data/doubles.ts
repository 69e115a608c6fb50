/** JSON as Go reads it into untyped values: every number is a double. */
import { setKey } from "./plain-object.js";

type Container = Readonly<Record<string, unknown>>;

/** Maps of more keys are made anew, key by key: to copy one as a whole takes three times as long when it has a hundred thousand. */
const WIDE = 1_000;
/** Values of one list or map between two steps, */
const VALUES_A_STEP = 100;
/** and lists and maps: together they take less than a millisecond, unless most of them have that many values. */
const TURNS_A_STEP = 64;

/**
 * The value of the number model (`json.ts`) with doubles in place of integers. What holds no integer is shared with the original, because reviews of
 * many MiB are mostly texts; so the original must not change any more.
 */
export function withDoubles(value: unknown): unknown {
  if (!isContainer(value)) return leaf(value);
  return Array.isArray(value) ? list(value) : map(value as Container);
}

/**
 * The same in steps that take less than a millisecond, but for the listing of one map's keys and the copying of one list.
 * @param known what was made of a list or a map before, if anything was
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

/** A number as a double; what is neither that nor holds others stays as it is. */
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

/** A list or a map of which doubles are being made. */
abstract class Part {
  /** Values that it holds. */
  protected abstract readonly length: number;
  /** What it has become, once it is complete. */
  abstract readonly made: unknown;
  #next = 0;

  get isComplete(): boolean {
    return this.#next === this.length;
  }

  /** Goes on for a step, up to a value that holds others: that one is to be made first, and to be {@link put}. */
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

  /** What the next value has become. */
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

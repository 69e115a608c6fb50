/** The names that the reference proposes in place of an undeclared one since 1.38 (spec kubernetes-1-38.md 1). */

/** The names of the standard library's types; those of other libraries are not proposed. */
const STANDARD_TYPES = [
  ...["bool", "bytes", "double", "google.protobuf.Duration", "int", "list", "map", "null_type", "string"],
  ...["google.protobuf.Timestamp", "type", "uint"],
];

/** Most names that are proposed. */
const MOST_PROPOSED = 2;
/** Length of a name that others may begin with. */
const LEAST_PREFIX = 2;
/** Characters of a name, and distances: a short one may be an edit away, others two, and long ones a third of their length. */
const SHORT = 3;
const LONG = 8;
/** A name of so many characters is not compared with one half as long again. */
const LEAST_RATIO_LENGTH = 16;
/** Product of two lengths beyond which names are not compared. */
const MOST_COMPARED = 64 * 64;

/** Names of one environment. */
export class Catalog {
  readonly #names: ReadonlySet<string>;

  constructor(...names: readonly Iterable<string>[]) {
    this.#names = new Set([...names.flatMap((each) => [...each]), ...STANDARD_TYPES]);
  }

  /** The name itself where it is one, else the nearest ones, else those that begin with it. */
  find(name: string): readonly string[] {
    if (this.#names.has(name)) return [name];
    const dotted = name.includes(".");
    const octets = Buffer.byteLength(name);
    const most = octets <= SHORT ? 1 : octets <= LONG ? 2 : Math.floor(octets / 3);
    const kin = [...this.#names].filter((each) => each.includes(".") === dotted);
    let least = most;
    let nearest: string[] = [];
    for (const each of kin) {
      const distance = distanceOf(name, each);
      if (distance > least) continue;
      if (distance < least) nearest = [];
      least = distance;
      nearest.push(each);
    }
    if (nearest.length === 0 && octets >= LEAST_PREFIX) nearest = kin.filter((each) => each.startsWith(name));
    const order = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);
    return nearest.sort(order).slice(0, MOST_PROPOSED);
  }

  /** The proposals as a message ends with them. */
  suggestion(name: string): string {
    const found = this.find(name);
    if (found.length === 0 || found[0] === name) return "";
    return ` (did you mean ${found.map((each) => `'${each}'`).join(" or ")}?)`;
  }
}

/** Edits between two names, a transposition counting as one; Infinity where they are too many. */
function distanceOf(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (short.length === 0) return long.length;
  if (long.length >= LEAST_RATIO_LENGTH && long.length * 2 >= short.length * 3) return long.length - short.length;
  if (long.length * short.length > MOST_COMPARED) return Number.POSITIVE_INFINITY;
  const most = Math.floor(long.length / 3);
  let [before, last]: number[][] = [[], Array.from({ length: right.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      let edits = Math.min((last?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last?.[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        edits = Math.min(edits, (before?.[j - 2] ?? 0) + 1);
      }
      row.push(edits);
    }
    if (Math.min(...row) > most) return Number.POSITIVE_INFINITY;
    [before, last] = [last, row];
  }
  return last?.[right.length] ?? 0;
}

/** Keys that stand at another level of a map than they belong to: most often a line is indented too little, or too much. */
import { isNothing, type MapNode, pairOf } from "./documents/source-node.js";
import type { OuterRecord } from "./problem-sink.js";
import type { Fields, Shape } from "./shape.js";

/** The place of a key below one of the record. */
interface Belongs {
  /** The key of this record below which it would be known. */
  readonly below: string;
  readonly advice: string;
}

/** Keys of so many maps that only one right beside tells anything. */
const EVERYWHERE: ReadonlySet<string> = new Set(["apiVersion", "kind", "name", "key", "values"]);

/** Most levels that are looked into. */
const MOST_LEVELS = 3;

/** Advice on a key that is unknown in a record and known elsewhere, below one of its keys or around it; undefined when it is known nowhere. */
export function misplaced(
  key: string,
  node: MapNode,
  fields: Fields,
  outer: readonly OuterRecord[],
): { readonly advice: string; readonly below?: string } | undefined {
  const inner = innerPlace(key, node, fields);
  const around = outer.findLast((record) => record.knows(key));
  const beside = around && `indent it as ${around.key}`;
  if (inner === undefined) return beside === undefined ? undefined : { advice: beside };
  return { below: inner.below, advice: beside === undefined ? inner.advice : `${inner.advice}, or ${beside}` };
}

function innerPlace(key: string, node: MapNode, fields: Fields): Belongs | undefined {
  for (const [below, { shape }] of Object.entries(fields)) {
    const pair = pairOf(node, below);
    const isEmpty = pair !== undefined && isNothing(pair.value);
    // Of a map with any keys, only one that has none is taken for the one that was meant.
    if (isEmpty && shape.schema.type === "object" && shape.fields === undefined)
      return { below, advice: `indent it below ${below}` };
  }
  const [written, absent] = [true, false].map((isWritten) =>
    Object.entries(fields).filter(([name]) => (pairOf(node, name) !== undefined) === isWritten),
  );
  for (const known of [written, EVERYWHERE.has(key) ? [] : absent]) {
    for (let levels = 1; levels <= MOST_LEVELS; levels++) {
      for (const [below, { shape }] of known ?? []) {
        if (levels > 1 && EVERYWHERE.has(key)) continue;
        const way = wayTo(key, shape, below, levels);
        if (way !== undefined) return { below, advice: way };
      }
    }
  }
  return undefined;
}

/** How to write a key below `at`, so many levels deep. */
function wayTo(key: string, { fields, item }: Shape<unknown>, at: string, levels: number): string | undefined {
  const known = fields ?? item?.fields;
  if (known === undefined) return undefined;
  if (levels === 1) {
    if (!Object.hasOwn(known, key)) return undefined;
    return fields === undefined ? `write it in an item of ${at}` : `indent it below ${at}`;
  }
  for (const [name, field] of Object.entries(known)) {
    const way = wayTo(key, field.shape, name, levels - 1);
    if (way !== undefined) return way;
  }
  return undefined;
}

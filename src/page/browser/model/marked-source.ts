import type { ExplainedValue } from "../../../kinds/explanation/types.js";

/** A part of an expression's source with its values: several where it was evaluated for each element of a list. */
export interface MarkedPart {
  readonly from: number;
  readonly to: number;
  readonly values: readonly ExplainedValue[];
  readonly inner: readonly MarkedPart[];
}

interface Open {
  from: number;
  to: number;
  values: ExplainedValue[];
  inner: Open[];
}

/**
 * The nested parts of a source. Parts without a place, outside of the source, or across another one are left out: the list under the
 * source has them all.
 */
export function markSource(source: string, root: ExplainedValue): readonly MarkedPart[] {
  const found = new Map<string, Open>();
  const collect = [root];
  for (let value = collect.pop(); value !== undefined; value = collect.pop()) {
    const { from, to } = value;
    if (from !== undefined && to !== undefined && from >= 0 && from < to && to <= source.length) {
      const key = `${from}:${to}`;
      const part = found.get(key) ?? { from, to, values: [], inner: [] };
      part.values.push(value);
      found.set(key, part);
    }
    collect.push(...value.parts.toReversed());
  }
  const top: Open[] = [];
  const open: Open[] = [];
  for (const part of [...found.values()].sort((a, b) => a.from - b.from || b.to - a.to)) {
    while (open.length > 0 && (open.at(-1)?.to ?? 0) <= part.from) open.pop();
    const around = open.at(-1);
    if (around !== undefined && part.to > around.to) continue;
    (around?.inner ?? top).push(part);
    open.push(part);
  }
  return top;
}

/** The values of a part in words; equal ones once. */
export function valuesOf(part: MarkedPart): string {
  const words = part.values.map((value) => value.value ?? "not evaluated");
  return [...new Set(words)].join(" | ");
}

/** Sizes that tell of the parts of lists and maps, too (spec kubernetes-1-38.md 1). */
import { type Range, UINT_MAX, union } from "./range.js";

/** A size, and those of the keys of a map and of the elements of a list or the values of a map, as far as they are known. */
export interface Size extends Range {
  readonly key?: Size | undefined;
  readonly elem?: Size | undefined;
}

/** Whether nothing is known, not even of the parts. */
export const isUnknown = ({ min, max, key, elem }: Size): boolean =>
  min === 0n && max === UINT_MAX && key === undefined && elem === undefined;

/** The parts of either. */
export const mergedParts = (a: Size, b: Size): Pick<Size, "key" | "elem"> => ({
  key: either(a.key, b.key),
  elem: either(a.elem, b.elem),
});

/** The smallest size that holds both. */
export const unionSize = (a: Size, b: Size): Size => ({ ...union(a, b), ...mergedParts(a, b) });

const either = (a: Size | undefined, b: Size | undefined): Size | undefined =>
  a === undefined ? b : b === undefined ? a : unionSize(a, b);

/** Takes the marks (src/wasm/rewrite/write-barriers) out of a function's instructions, so that the rest can be proved as if there were none. */
import { IMMEDIATES, IMMEDIATES_OF, OP } from "../../../../src/wasm/rewrite/binary/instructions.js";

/** One instruction. */
export interface Step {
  readonly code: number;
  /** The first index, or the value of an i32.const. */
  readonly value: number;
}

/** Where a module has its marks. */
export interface MarksOfModule {
  /** One for each size of regions. */
  readonly globals: readonly number[];
  /** The function that marks a range. */
  readonly range: number;
}

/** @returns the other instructions, or what is wrong with the marks */
export function withoutMarks(all: readonly Step[], marks: MarksOfModule): readonly Step[] | string {
  // The local that marks keep an address in is the last one, if they have one; else it is the code's own.
  const last = all.reduce((most, step) => (isLocal(step) ? Math.max(most, step.value) : most), -1);
  const rest = without(all, marks, last);
  return typeof rest === "string" ? without(all, marks, -1) : rest;
}

const isLocal = ({ code }: Step): boolean => IMMEDIATES_OF[code] === IMMEDIATES.localIndex;

function without(all: readonly Step[], { globals, range }: MarksOfModule, scratch: number): readonly Step[] | string {
  const rest: Step[] = [];
  for (let at = 0; at < all.length; ) {
    const length = Math.max(...globals.map((global) => markAt(all, at, global, scratch)));
    const step = all[at];
    if (length === 0 && step && !(step.code === OP.call && step.value === range)) rest.push(step);
    at += Math.max(1, length);
  }
  for (const { code, value } of rest) {
    if (IMMEDIATES_OF[code] === IMMEDIATES.globalIndex && globals.includes(value)) return "the marks are touched";
    if (IMMEDIATES_OF[code] === IMMEDIATES.functionIndex && value >= range) return "a function of the marks is called";
    if (isLocal({ code, value }) && value === scratch) return "a mark's local is touched";
  }
  return rest;
}

/** How many instructions the mark that begins here has; 0: none begins. @param scratch the local that it may keep an address in */
function markAt(all: readonly Step[], at: number, global: number, scratch: number): number {
  const is = (offset: number, code: number, value?: number): boolean => {
    const step = all[at + offset];
    return step?.code === code && (value === undefined || step.value === value);
  };
  if (is(0, OP.i64Const) && is(1, OP.globalSet, global)) return 2;
  if (is(0, OP.globalGet, global) && is(1, OP.i64Const) && is(2, OP.i64Or) && is(3, OP.globalSet, global)) return 4;
  const kept = is(0, OP.localTee, scratch) && is(1, OP.globalGet, global) ? 1 : 0;
  if (!is(kept, OP.globalGet, global) || !is(kept + 1, OP.i64Const) || !is(kept + 2, OP.localGet)) return 0;
  const added = is(kept + 4, OP.i32Add) ? 2 : 0;
  const shift = kept + 3 + added;
  const ends = [OP.i32Const, OP.i32ShrU, OP.i64ExtendI32U, OP.i64Shl, OP.i64Or].every((code, index) =>
    is(shift + index, code),
  );
  if (!ends || !is(shift + 5, OP.globalSet, global)) return 0;
  if (kept > 0 && all[at + 3]?.value !== scratch) return 0;
  return shift + 6;
}

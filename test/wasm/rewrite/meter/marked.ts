/** Runs a module with marks of what it writes to and without, and looks whether all that it has changed lies in marked regions. */

import { HOST_MODULE, highMarksName, lowMarksName, MEMORY_NAME } from "../../../../src/wasm/names.js";
import { exportedFunctionTypes } from "../../../../src/wasm/rewrite/binary/function-types.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { extractState } from "../../../../src/wasm/rewrite/snapshot/extract.js";
import { type Marking, REGIONS, SLACK_BYTES } from "../../../../src/wasm/rewrite/write-barriers/marking.js";
import { type Random, random } from "../../../fuzz/random.js";
import {
  asItIs,
  CALLS,
  type Comparison,
  compared,
  ENOUGH,
  history,
  type Import,
  provide,
  someValue,
  withHostMemory,
} from "./both.js";
import { verifyMetered } from "./verify.js";

/** A page of random bytes. */
export const PAGE = randomBytes(new Uint8Array(65_536));

/** Most bytes that are filled with what can be told from what a module writes. */
export const LARGEST = 200 * 65_536;

/**
 * Compares a module marked and not as `compareBoth` does, and then calls all its exports with a memory full of random bytes: each byte that is another after a call must
 * lie in a region that the call has marked.
 */
export function compareMarked(
  bytes: Uint8Array<ArrayBuffer>,
  seed: number,
  marking: Marking,
  rewrite = asItIs,
): Comparison {
  const given = withHostMemory(bytes);
  if (typeof given === "string") return { kind: "skipped", why: given };
  const { wanted, rewritten, shape } = given;
  const { bytes: extracted, own } = extractState(rewritten, shape);
  const side = (module: WebAssembly.Module) => {
    const lines: string[] = [];
    const memory = new WebAssembly.Memory(shape);
    const given = provided(wanted, lines, memory);
    return history(() => new WebAssembly.Instance(module, given), exportedFunctionTypes(bytes), seed, lines);
  };
  const markedBytes = meterModule(rewrite(extracted, own), marking, own);
  const unpaid = verifyMetered(markedBytes, own);
  if (unpaid !== undefined) return { kind: "different", what: unpaid };
  const marked = new WebAssembly.Module(markedBytes);
  const plain = new WebAssembly.Module(meterModule(extracted, undefined, own));
  const difference = compared(side(plain), side(marked), ["unmarked", "marked"]);
  if (difference.kind !== "equal") return difference;
  return firstUnmarked(marked, wanted, shape, { bytes, seed, marking }) ?? difference;
}

/** What a module imports, and its memory. */
export function provided(wanted: readonly Import[], lines: string[], memory: WebAssembly.Memory) {
  const given = provide(wanted, lines, () => ENOUGH);
  given[HOST_MODULE] = { ...given[HOST_MODULE], [MEMORY_NAME]: memory };
  return given;
}

function firstUnmarked(
  module: WebAssembly.Module,
  wanted: readonly Import[],
  shape: { readonly initial: number; readonly maximum: number },
  { bytes, seed, marking }: { bytes: Uint8Array; seed: number; marking: Marking },
): Comparison | undefined {
  const memory = new WebAssembly.Memory(shape);
  let exports: WebAssembly.Instance["exports"];
  try {
    ({ exports } = new WebAssembly.Instance(module, provided(wanted, [], memory)));
  } catch {
    return undefined;
  }
  const number = random(seed);
  for (let round = 0; round < CALLS; round++)
    for (const [name, type] of exportedFunctionTypes(bytes)) {
      const run = exports[name];
      if (typeof run !== "function" || memory.buffer.byteLength > LARGEST) continue;
      for (let at = 0, page = new Uint8Array(memory.buffer); at < page.length; at += PAGE.length) page.set(PAGE, at);
      const before = Buffer.from(memory.buffer.slice(0));
      const parameters = (type ?? "() ->").slice(1).split(")")[0]?.split(" ").filter(Boolean) ?? [];
      marksOf(exports, marking);
      try {
        (run as (...values: unknown[]) => unknown)(...parameters.map((each) => valueFor(each, number, before.length)));
      } catch {
        // What it has written before it has trapped is marked, too.
      }
      const at = firstOutside(before, Buffer.from(memory.buffer), marksOf(exports, marking), marking);
      if (at >= 0) return { kind: "different", what: `${name} has written to ${at}, which is not marked` };
    }
  return undefined;
}

function randomBytes(page: Uint8Array): Uint8Array {
  const number = random(1);
  return page.map(() => number(256));
}

/** Most numbers are addresses in the memory. */
export function valueFor(type: string, number: Random, bytes: number): unknown {
  if (type === "i32" && number(4) > 0) return number(bytes);
  if (type === "i64" && number(2) > 0) return BigInt(number(bytes));
  return someValue(type, number(0x1_0000_0000));
}

/** The marks of an instance, by size of regions, which it forgets. */
function marksOf(exports: WebAssembly.Instance["exports"], { shifts }: Marking): readonly bigint[] {
  const half = (name: string) => BigInt.asUintN(32, BigInt((exports[name] as unknown as () => number)()));
  return shifts.map((_, level) => half(lowMarksName(level)) | (half(highMarksName(level)) << 32n));
}

/** The first byte that differs and is not covered by marks; -1: there is none. */
function firstOutside(before: Buffer, after: Buffer, marks: readonly bigint[], { shifts }: Marking): number {
  const isMarked = (at: number) =>
    shifts.every(
      (shift, level) => (((marks[level] ?? 0n) >> BigInt(Math.floor(at / 2 ** shift) % REGIONS)) & 1n) === 1n,
    );
  const end = Math.max(before.length, after.length);
  const step = SLACK_BYTES;
  for (let from = 0; from < end; from += step) {
    // Slack is as large as a step: what lies there is covered by the region around it, or the one before.
    if (isMarked(from) || (from >= step && isMarked(from - step))) continue;
    const now = after.subarray(from, from + step);
    const then = from < before.length ? before.subarray(from, from + step) : Buffer.alloc(now.length);
    if (now.equals(then)) continue;
    return from + now.findIndex((byte, index) => byte !== then[index]);
  }
  return -1;
}

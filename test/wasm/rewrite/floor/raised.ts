/** Runs a module that is kept above a floor and as it is, and looks whether it does the same, and writes nothing below. */

import { exportedFunctionTypes } from "../../../../src/wasm/rewrite/binary/function-types.js";
import { raiseStores } from "../../../../src/wasm/rewrite/floor/raise-stores.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { extractState } from "../../../../src/wasm/rewrite/snapshot/extract.js";
import { random } from "../../../fuzz/random.js";
import { asItIs, CALLS, type Comparison, withHostMemory } from "../meter/both.js";
import { LARGEST, PAGE, provided, valueFor } from "../meter/marked.js";
import { verifyMetered } from "../meter/verify.js";

/** What a call came to. */
interface Came {
  readonly lines: readonly string[];
  /** Its last line: what it returned, or threw. */
  readonly end: string;
  readonly memory: Buffer;
}

/**
 * Calls all exports of a module in new instances, whose memory is full of random bytes. Below the floor each byte must be as it was; and what does not trap there must come to
 * the same as without it.
 */
export function compareRaised(
  bytes: Uint8Array<ArrayBuffer>,
  seed: number,
  floor: number,
  rewrite = asItIs,
): Comparison & { readonly trapped?: number; readonly calls?: number } {
  const given = withHostMemory(bytes);
  if (typeof given === "string") return { kind: "skipped", why: given };
  const { wanted, rewritten, shape } = given;
  const { bytes: extracted, own, image } = extractState(rewritten, shape);
  // Its data is then written by the engine, when an instance is made.
  if (!image) return { kind: "skipped", why: "it writes its data itself" };
  const above = raiseStores(rewrite(extracted, own), floor);
  if (!above) return { kind: "skipped", why: "it can't be kept above a floor" };
  const meteredBytes = meterModule(above, undefined, own);
  const unpaid = verifyMetered(meteredBytes, own);
  if (unpaid !== undefined) return { kind: "different", what: unpaid };
  const raised = new WebAssembly.Module(meteredBytes);
  const plain = new WebAssembly.Module(meterModule(extracted, undefined, own));
  const call = (module: WebAssembly.Module, name: string, values: readonly unknown[]): Came => {
    const lines: string[] = [];
    const memory = new WebAssembly.Memory(shape);
    for (let at = 0, page = new Uint8Array(memory.buffer); at < page.length; at += PAGE.length) page.set(PAGE, at);
    try {
      const { exports } = new WebAssembly.Instance(module, provided(wanted, lines, memory));
      lines.push(String((exports[name] as unknown as (...given: unknown[]) => unknown)(...values)));
    } catch (error) {
      lines.push(`threw ${error instanceof Error ? error.message : typeof error}`);
    }
    return { lines, end: lines.at(-1) ?? "", memory: Buffer.from(memory.buffer) };
  };
  const number = random(seed);
  let trapped = 0;
  let calls = 0;
  for (let round = 0; round < CALLS; round++)
    for (const [name, type] of exportedFunctionTypes(bytes)) {
      if (shape.initial * PAGE.length > LARGEST) continue;
      const parameters = (type ?? "() ->").slice(1).split(")")[0]?.split(" ").filter(Boolean) ?? [];
      const values = parameters.map((each) => valueFor(each, number, Math.max(1, shape.initial * PAGE.length)));
      const one = call(raised, name, values);
      const before = (at: number) => (at < shape.initial * PAGE.length ? PAGE[at % PAGE.length] : 0);
      const below = one.memory.subarray(0, floor).findIndex((byte, at) => byte !== before(at));
      if (below >= 0) return { kind: "different", what: `${name} has written to ${below}` };
      const other = call(plain, name, values);
      calls++;
      if (one.end.includes("call stack") || other.end.includes("call stack")) continue;
      const isSame = one.lines.join("\n") === other.lines.join("\n");
      if (!isSame && /unreachable|out of bounds/.test(one.end)) {
        trapped++;
        continue;
      }
      if (!isSame)
        return { kind: "different", what: `${name}: above ${one.lines.join("; ")}; plain ${other.lines.join("; ")}` };
      // What traps anyway may have written below before.
      if (!one.memory.equals(other.memory) && !one.end.startsWith("threw"))
        return { kind: "different", what: `${name} has left another memory` };
    }
  return { kind: "equal", trapped, calls };
}

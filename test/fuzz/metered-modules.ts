/**
 * Compares random modules metered and not, and in new and used instances. It reads them from standard input as scripts/wasm-smith prints them:
 *
 *     random-modules 0 100000 ends | node dist/test/fuzz/metered-modules.js ends
 *     random-modules 0 100000 free | node dist/test/fuzz/metered-modules.js free
 *     random-modules 0 100000 ends policy | node dist/test/fuzz/metered-modules.js used
 *     random-modules 0 100000 ends | node dist/test/fuzz/metered-modules.js marked
 *     random-modules 0 100000 ends | node dist/test/fuzz/metered-modules.js raised
 *
 * or makes them itself, of small functions that call one another (`test/wasm/rewrite/inline-functions/random-functions.ts`):
 *
 *     node dist/test/fuzz/metered-modules.js functions 0 100000
 *
 * Every second one has its small functions written where they are called before it is metered; of those made here all have. Those that end by themselves
 * must do the same in both forms, and in an instance that has been used and brought back the same as in a new one; those that may run for ever must be
 * ended.
 */
import { inlineCalls } from "../../src/wasm/rewrite/inline-functions/inline-calls.js";
import type { IndexSpaces } from "../../src/wasm/rewrite/meter/segments.js";
import { SMALLEST_SHIFT } from "../../src/wasm/rewrite/write-barriers/marking.js";
import { compareRaised } from "../wasm/rewrite/floor/raised.js";
import { GENEROUS } from "../wasm/rewrite/inline-functions/generous.js";
import { randomFunctions } from "../wasm/rewrite/inline-functions/random-functions.js";
import { asItIs, compareBoth, compareUsed, type Rewrite, runOut } from "../wasm/rewrite/meter/both.js";
import { compareMarked } from "../wasm/rewrite/meter/marked.js";

/** Bytes of the seed and the length before a module. */
const HEAD = 8;
/** Units after which a module that may run for ever is ended. */
const UNITS = 300_000;
/** All calls of a module take no more time of the processor than this, in milliseconds. */
const LONGEST = 5_000;
const REPORTED_EVERY = 10_000;

const free = process.argv[2] === "free";
const compare =
  { used: compareUsed, marked: compareMarkedByTurns, raised: compareRaisedByTurns }[process.argv[2] ?? ""] ??
  compareBoth;
let rest: Buffer = Buffer.alloc(0);
let compared = 0;
let skipped = 0;
let ended = 0;
let longest = 0;
let different = 0;
let expansions = 0;
let expanded = 0;
const reasons = new Map<string, number>();

// That a place was not brought back by its marks.
process.on("warning", ({ message }) => {
  different++;
  console.log(message);
});

const [from, to] = process.argv.slice(3).map(Number);
if (process.argv[2] === "functions")
  for (let seed = from ?? 0; seed < (to ?? 0); seed++) judge(randomFunctions(seed), seed);
else await judgeAll();
report();
process.exitCode = different > 0 ? 1 : 0;

async function judgeAll(): Promise<void> {
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (rest.length - at >= HEAD) {
      const length = rest.readUInt32LE(at + 4);
      if (rest.length - at - HEAD < length) break;
      const seed = rest.readUInt32LE(at);
      judge(new Uint8Array(rest.subarray(at + HEAD, at + HEAD + length)), seed);
      at += HEAD + length;
    }
    rest = rest.subarray(at);
  }
}

/** With regions of different sizes. */
function compareMarkedByTurns(bytes: Uint8Array<ArrayBuffer>, seed: number, rewrite: Rewrite) {
  const shift = SMALLEST_SHIFT + (seed % 5);
  return compareMarked(bytes, seed, { shifts: seed % 2 === 0 ? [shift] : [shift, shift + 1 + (seed % 3)] }, rewrite);
}

/** Above floors of different heights. */
function compareRaisedByTurns(bytes: Uint8Array<ArrayBuffer>, seed: number, rewrite: Rewrite) {
  return compareRaised(bytes, seed, 4_096 << (seed % 4), rewrite);
}

/** Functions where they are called, and counted. */
function expand(bytes: Uint8Array<ArrayBuffer>, own?: IndexSpaces): Uint8Array<ArrayBuffer> {
  const rewritten = inlineCalls(bytes, own, expansions++ % 3 === 0 ? undefined : GENEROUS);
  if (rewritten.length > bytes.length) expanded++;
  return rewritten;
}

function judge(bytes: Uint8Array<ArrayBuffer>, seed: number): void {
  const start = process.cpuUsage();
  const rewrite = seed % 2 === 0 && process.argv[2] !== "functions" ? asItIs : expand;
  try {
    if (free) {
      const calls = runOut(bytes, seed, UNITS, rewrite);
      if (calls === undefined) skipped++;
      else ended += calls;
    } else {
      const comparison = compare(bytes, seed, rewrite);
      if (comparison.kind === "skipped") {
        skipped++;
        const why = comparison.why.replace(/@.*|\d+/g, "").slice(0, 70);
        reasons.set(why, (reasons.get(why) ?? 0) + 1);
      }
      if (comparison.kind === "different") {
        different++;
        console.log(`seed ${seed}: ${comparison.what}`);
      }
    }
  } catch (error) {
    different++;
    console.log(`seed ${seed}: ${String(error)}`);
  }
  compared++;
  const { user } = process.cpuUsage(start);
  longest = Math.max(longest, user / 1_000);
  if (user / 1_000 > LONGEST) {
    different++;
    console.log(`seed ${seed}: took ${Math.round(user / 1_000)} ms`);
  }
  if (compared % REPORTED_EVERY === 0) report();
}

function report(): void {
  const most = [...reasons].sort(([, a], [, b]) => b - a).slice(0, 5);
  console.log(
    `${compared} modules, ${expanded} expanded, ${skipped} skipped, ${different} wrong, ${ended} calls ended, longest ${Math.round(longest)} ms`,
    most.map(([why, count]) => `${count} ${why}`).join("; "),
  );
}

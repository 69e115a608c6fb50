/**
 * What metering costs guests: the time that they compute for a review of 6 KB, with and without it (marks included where a module has them), in one process and in
 * turns. Only the call itself counts, not what makes its instance or brings its memory back. Modules of others take part when `GUEST_MODULES` names
 * their folder. And how long it takes to meter a module, a MB.
 *
 * | figure | goal |
 * | --- | --- |
 * | a metered guest / the same without, geometric mean | at most 1.15 |
 * | metering a module of 10 MB | at most 1 s |
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DEFAULT_GUEST_LIMITS } from "../src/wasm/index.js";
import { ModuleStore } from "../src/wasm/module/prepare.js";
import { HOST_MODULE, MEMORY_NAME } from "../src/wasm/names.js";
import { extismRunner } from "../src/wasm/protocols/extism/guest.js";
import { regoRunner } from "../src/wasm/protocols/opa/guest.js";
import { wapcRunner } from "../src/wasm/protocols/wapc/guest.js";
import { wasiRunner } from "../src/wasm/protocols/wasi/guest.js";
import { rewriteModule } from "../src/wasm/rewrite/binary/rewrite.js";
import { meterModule } from "../src/wasm/rewrite/meter/meter.js";
import { extractState } from "../src/wasm/rewrite/snapshot/extract.js";
import type { ExecutionMode, GuestModule } from "../src/wasm/run/guest/call.js";
import type { RunGuest } from "../src/wasm/run/guest/guest.js";
import { Places } from "../src/wasm/run/guest/instance-pool.js";
import { MOST_SLICE_UNITS } from "../src/wasm/run/main-thread/trial.js";
import { noHost } from "./support/guest-calls.js";
import { podReview } from "./support/guest-modules.js";
import { median, spread } from "./support/statistics.js";

const ROUNDS = 251;
/** Milliseconds of a side's part of a round, short because the machine's speed changes, and of its warm-up. */
const PART_MS = 4;
const WARM_UP_MS = 1_500;
/** Calls after which a side gets new memory: without metering, nothing tells a guest how much of it is its own. */
const CALLS_A_MEMORY = 8;
const MIB = 1024 * 1024;

interface Guest {
  readonly name: string;
  readonly path: string;
  readonly mode: ExecutionMode;
  /** Default: none. */
  readonly settings?: object;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const { request } = JSON.parse(podReview()) as { readonly request: object };
const vectors = (name: string): string => join(root, "test/vectors", name);
const theirs = process.env.GUEST_MODULES ?? "";
const THEIR_SETTINGS: Readonly<Record<string, object>> = {
  "trusted-repos": { registries: { allow: ["registry.acme.example"] }, tags: { reject: ["latest"] } },
};
const GUESTS: readonly Guest[] = [
  { name: "waPC, trivial", path: join(root, "test/fixtures/trivial/wapc.wasm"), mode: "kubewarden-wapc" },
  { name: "Extism, example policy", path: join(root, "policies/privileged-pods/policy.wasm"), mode: "extism" },
  { name: "waPC, Rust", path: vectors("kubewarden/wasm/chaos-wapc.wasm"), mode: "kubewarden-wapc" },
  { name: "WASI, Rust", path: vectors("kubewarden/wasm/chaos-wasi.wasm"), mode: "wasi" },
  { name: "Gatekeeper", path: vectors("rego/gatekeeper.wasm"), mode: "gatekeeper" },
  { name: "OPA", path: vectors("rego/opa.wasm"), mode: "opa" },
  ...(existsSync(theirs) ? readdirSync(theirs) : [])
    .filter((file) => file.endsWith(".wasm"))
    .map((file) => file.replace(/\.wasm$/, ""))
    .map((name) => ({
      name,
      path: join(theirs, `${name}.wasm`),
      mode: "kubewarden-wapc" as const,
      settings: THEIR_SETTINGS[name] ?? {},
    })),
];

const RUNNERS: Readonly<Record<ExecutionMode, () => RunGuest>> = {
  extism: extismRunner,
  "kubewarden-wapc": wapcRunner,
  wasi: wasiRunner,
  opa: regoRunner,
  gatekeeper: regoRunner,
};

function payloadOf({ mode, settings = {} }: Guest): Uint8Array {
  const payload =
    mode === "gatekeeper"
      ? { parameters: settings, review: request }
      : mode === "opa"
        ? { request }
        : { request, settings };
  return Buffer.from(JSON.stringify(payload));
}

/** A budget without an end, which looks at the clock and gives slices as that of a call on the main thread does when it has gone on for a moment. */
const ENDLESS = {
  isSpent: false,
  looked: 0,
  refill() {
    this.looked = performance.now();
    return MOST_SLICE_UNITS;
  },
};

/** One form of a guest: makes calls for so many milliseconds, and tells the microseconds that one computed. */
function side(guest: Guest, module: GuestModule): (milliseconds: number) => number {
  const run = RUNNERS[guest.mode]();
  const call = { operation: "validate", input: payloadOf(guest) };
  let began: number | undefined;
  const host = noHost(() => {
    // Rego's input is read before the call is entered, and counts.
    began ??= performance.now();
  }, ENDLESS);
  let places = new Places();
  let calls = 0;
  return (milliseconds) => {
    const times: number[] = [];
    for (const end = performance.now() + milliseconds; performance.now() < end; ) {
      if (++calls % CALLS_A_MEMORY === 0) places = new Places();
      const { importedMemory, image } = module;
      const place = importedMemory && image && places.take(module.id, importedMemory, image, module);
      began = undefined;
      const answer = run(module, call, host, place);
      times.push(performance.now() - (began ?? 0));
      if (answer.kind !== "answer") throw new Error(`${guest.name}: ${answer.kind} ${answer.text}`);
      if (place) places.give(place);
      places.tidy();
    }
    return median(times) * 1000;
  };
}

const store = new ModuleStore();
const ratios: number[] = [];
const perMib: number[] = [];
console.log("a call in microseconds: without metering, with it, ratio by round; metering its module");
for (const guest of GUESTS) {
  const bytes = readFileSync(guest.path);
  const { memoryPages: maximumPages } = DEFAULT_GUEST_LIMITS;
  const metered = await store.prepare(bytes, maximumPages, guest.mode);
  const { marking: _, ...unmarked } = metered;
  const rewritten = rewriteModule(bytes, {
    maximumPages,
    importMemoryAs: { module: HOST_MODULE, name: MEMORY_NAME },
  });
  const extracted = extractState(rewritten.bytes, rewritten.importedMemory);
  const bare: GuestModule = { ...unmarked, id: -metered.id, module: await WebAssembly.compile(extracted.bytes) };
  const began = performance.now();
  meterModule(extracted.bytes, metered.marking, extracted.own);
  const metering = performance.now() - began;
  const [without, withMetering] = [side(guest, bare), side(guest, metered)];
  without(WARM_UP_MS);
  withMetering(WARM_UP_MS);
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    if (round % 2 === 0) return [without(PART_MS), withMetering(PART_MS)] as const;
    const second = withMetering(PART_MS);
    return [without(PART_MS), second] as const;
  });
  const [bareTimes, meteredTimes] = [rounds.map(([time]) => time), rounds.map(([, time]) => time)];
  const byRound = rounds.map(([before, after]) => after / before);
  ratios.push(median(byRound));
  perMib.push((metering / bytes.length) * MIB);
  console.log(
    `${guest.name.padEnd(24)} ${spread(bareTimes, 1)}   ${spread(meteredTimes, 1)}   ${spread(byRound)}   ` +
      `${metering.toFixed(1)} ms for ${(bytes.length / 1024).toFixed(0)} KiB`,
  );
}
const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
console.log(`geometric mean ${mean.toFixed(3)} (goal 1.15)`);

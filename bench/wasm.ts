/**
 * What the worker pool adds to a guest, and what a runaway guest costs the others. Rounds of both sides alternate, so that a slow moment of the
 * machine strikes both.
 *
 * | figure | goal |
 * | --- | --- |
 * | a call through the pool (fresh instance, worker thread, deadline) / the same on this thread | one trip between threads: below 0.1 ms more |
 * | p99 of a policy beside a runaway guest / alone | at most 1.1 |
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Review } from "../src/policy/review.js";
import { HostCapabilities } from "../src/wasm/host/host.js";
import { createWasmRuntime, DEFAULT_GUEST_LIMITS, type ExecutionMode, type WasmPolicy } from "../src/wasm/index.js";
import { ModuleStore } from "../src/wasm/module/prepare.js";
import { extismRunner } from "../src/wasm/protocols/extism/guest.js";
import { regoRunner } from "../src/wasm/protocols/opa/guest.js";
import { wapcRunner } from "../src/wasm/protocols/wapc/guest.js";
import { wasiRunner } from "../src/wasm/protocols/wasi/guest.js";
import type { RunGuest } from "../src/wasm/run/guest/guest.js";
import { Places } from "../src/wasm/run/guest/instance-pool.js";
import { noHost } from "./support/guest-calls.js";
import { median, spread } from "./support/statistics.js";

const nobody = noHost();
const ROUNDS = 5;
const CALLS = 400;
const CLIENTS = 8;
const RUNAWAY_CLIENTS = 4;
const RUNAWAY_ROUND_MS = 3_000;
const root = fileURLToPath(new URL("../..", import.meta.url));
const review = JSON.parse(readFileSync(`${root}/test/fixtures/reviews/pod.json`, "utf8")) as { request: never };
const requestText = JSON.stringify(review.request);
const requestBytes = Buffer.from(requestText);
const question: Review = { kind: "admission", request: review.request, requestBytes: () => requestBytes };
const patience = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

interface Guest {
  readonly name: string;
  readonly path: string;
  readonly mode: ExecutionMode;
  readonly run: RunGuest;
}

const runExtism = extismRunner();
const GUESTS: readonly Guest[] = [
  { name: "extism, trivial", path: "test/fixtures/trivial/extism.wasm", mode: "extism", run: runExtism },
  { name: "extism, example policy", path: "policies/privileged-pods/policy.wasm", mode: "extism", run: runExtism },
  { name: "wapc, trivial", path: "test/fixtures/trivial/wapc.wasm", mode: "kubewarden-wapc", run: wapcRunner() },
  {
    name: "wapc, Rust",
    path: "test/vectors/kubewarden/wasm/chaos-wapc.wasm",
    mode: "kubewarden-wapc",
    run: wapcRunner(),
  },
  { name: "wasi, trivial", path: "test/fixtures/trivial/wasi.wasm", mode: "wasi", run: wasiRunner() },
  { name: "wasi, Rust", path: "test/vectors/kubewarden/wasm/chaos-wasi.wasm", mode: "wasi", run: wasiRunner() },
  { name: "gatekeeper", path: "test/vectors/rego/gatekeeper.wasm", mode: "gatekeeper", run: regoRunner() },
];

/** Microseconds per call. */
async function time(calls: number, call: () => unknown): Promise<number> {
  const started = performance.now();
  for (let index = 0; index < calls; index++) {
    await call();
    // Lets the engine collect what is dead, as it can between requests.
    if (index % 32 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return ((performance.now() - started) / calls) * 1000;
}

const runtime = createWasmRuntime({
  workers: 2,
  log() {},
  capabilities: new HostCapabilities([], () => {}),
});

async function bareCall({ path, mode, run }: Guest): Promise<() => Promise<void>> {
  const { memoryPages } = DEFAULT_GUEST_LIMITS;
  const prepared = await new ModuleStore().prepare(readFileSync(`${root}/${path}`), memoryPages, mode);
  const places = new Places();
  const rego = mode === "gatekeeper";
  const payload = rego ? `{"parameters":{},"review":${requestText}}` : `{"request":${requestText},"settings":{}}`;
  const input = new TextEncoder().encode(payload);
  return async () => {
    const shape = prepared.importedMemory;
    const { image } = prepared;
    const place = shape && image && places.take(prepared.id, shape, image);
    run(prepared, { operation: "validate", input }, nobody, place);
    if (place) places.give(place);
    places.tidy();
  };
}

console.log("microseconds per call, one at a time: through the pool, on this thread, difference");
for (const guest of GUESTS) {
  const bytes = readFileSync(`${root}/${guest.path}`);
  const policy = await runtime.load({ id: guest.name, bytes, settings: {}, executionMode: guest.mode });
  const bare = await bareCall(guest);
  const pooled: number[] = [];
  const direct: number[] = [];
  await time(CALLS, () => policy.evaluate(question, patience));
  await time(CALLS, bare);
  for (let round = 0; round < ROUNDS; round++) {
    pooled.push(await time(CALLS, () => policy.evaluate(question, patience)));
    direct.push(await time(CALLS, bare));
  }
  const more = median(pooled) - median(direct);
  console.log(`${guest.name.padEnd(24)} ${spread(pooled, 0)}   ${spread(direct, 0)}   ${more.toFixed(0)}`);
}

/** Latencies in milliseconds of clients that ask one policy for a while. */
async function latencies(policy: WasmPolicy, clients: number, until: number): Promise<number[]> {
  const seen: number[] = [];
  const client = async () => {
    while (performance.now() < until) {
      const started = performance.now();
      await policy.evaluate(question, patience);
      seen.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return seen.sort((a, b) => a - b);
}

const percentile = (sorted: readonly number[], p: number) => sorted[Math.floor((sorted.length * p) / 100)] ?? 0;

const honest = await runtime.load({
  id: "honest",
  bytes: readFileSync(`${root}/test/vectors/kubewarden/wasm/chaos-wapc.wasm`),
  settings: {},
});
const runaway = await runtime.load({
  id: "runaway",
  bytes: readFileSync(`${root}/test/fixtures/chaos/wapc.wasm`),
  settings: { mode: "loop" },
  timeoutMs: 1_000,
});
const alone: number[][] = [];
const beside: number[][] = [];
await latencies(honest, CLIENTS, performance.now() + 500);
for (let round = 0; round < ROUNDS - 2; round++) {
  alone.push(await latencies(honest, CLIENTS, performance.now() + RUNAWAY_ROUND_MS));
  const until = performance.now() + RUNAWAY_ROUND_MS;
  const [besides] = await Promise.all([latencies(honest, CLIENTS, until), latencies(runaway, RUNAWAY_CLIENTS, until)]);
  beside.push(besides);
}
console.log(
  `\n${CLIENTS} clients of one policy; beside it ${RUNAWAY_CLIENTS} clients of a policy that loops until its limit of 1 s`,
);
for (const [name, rounds] of [
  ["alone", alone],
  ["beside", beside],
] as const) {
  const p50 = rounds.map((round) => percentile(round, 50));
  const p99 = rounds.map((round) => percentile(round, 99));
  const perSecond = rounds.map((round) => (round.length / RUNAWAY_ROUND_MS) * 1000);
  console.log(`${name.padEnd(7)} p50 ${spread(p50)} ms   p99 ${spread(p99)} ms   ${spread(perSecond, 0)} calls/s`);
}
console.log(JSON.stringify(runtime.status()));
runtime.close();

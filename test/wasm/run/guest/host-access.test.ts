/** What the host writes into a guest's memory is noted, all of it. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { DEFAULT_GUEST_LIMITS } from "../../../../src/wasm/limits.js";
import { HOST_MODULE, MEMORY_NAME } from "../../../../src/wasm/names.js";
import { regoRunner } from "../../../../src/wasm/protocols/opa/guest.js";
import { wapcRunner } from "../../../../src/wasm/protocols/wapc/guest.js";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { meterModule } from "../../../../src/wasm/rewrite/meter/meter.js";
import { extractState } from "../../../../src/wasm/rewrite/snapshot/extract.js";
import type { Marking } from "../../../../src/wasm/rewrite/write-barriers/marking.js";
import type { HostAnswer } from "../../../../src/wasm/run/guest/call.js";
import { CallHost } from "../../../../src/wasm/run/guest/call-host.js";
import type { RunGuest } from "../../../../src/wasm/run/guest/guest.js";
import { HostAccess } from "../../../../src/wasm/run/guest/host-access.js";
import { Places } from "../../../../src/wasm/run/guest/instance-pool.js";
import type { InstancePlace } from "../../../../src/wasm/run/guest/place.js";
import { InputQueue, type WasiCall, wasiArguments, wasiImports } from "../../../../src/wasm/run/guest/wasi-preview1.js";
import { ENDLESS, file, NO_SIDE } from "../../support.js";
import { bytesOf } from "../../wat.js";

const SOURCES = new URL("../../../../../src/wasm/", import.meta.url);
/** Files that may see a guest's memory as bytes that can be written: the one that notes it, and the one that brings memories back and takes images of them. */
const MAY_WRITE = ["run/guest/host-access.ts", "rewrite/snapshot/memory-snapshot.ts"];
/** They ask for its size, and read an answer. */
const READING = ["run/guest/instance-pool.ts", "run/guest/read-answer.ts"];
/** The kernel of Extism plugins has a memory of its own, which it wipes itself; threads share some words. */
const OTHER_MEMORIES = ["protocols/extism/kernel.ts", "run/worker/control-block.ts", "run/worker/shares.ts"];

/** Where the WASI functions are told to write: far from one another. */
const AT = [1_000, 21_000, 41_000, 61_000] as const;

/** Parameters with which a function does all that it can do; a list of buffers lies at 100, a subscription at 200. */
const WASI: Readonly<Record<string, readonly unknown[]>> = {
  args_sizes_get: AT,
  args_get: AT,
  environ_sizes_get: AT,
  environ_get: AT,
  clock_res_get: [0, AT[0]],
  clock_time_get: [0, 0n, AT[0]],
  fd_fdstat_get: [0, AT[0]],
  fd_read: [0, 100, 2, AT[0]],
  fd_write: [1, 100, 2, AT[0]],
  poll_oneoff: [200, AT[0], 1, AT[1]],
  random_get: [AT[0], 10_000],
  proc_exit: [0],
};
const WRITING = 10;

class RecordedAccess extends HostAccess implements WasiCall {
  readonly memory = new WebAssembly.Memory({ initial: 2 });
  readonly args = wasiArguments("policy.wasm", "validate");
  readonly stdin = new InputQueue();
  readonly host = new CallHost(NO_SIDE, DEFAULT_GUEST_LIMITS, ENDLESS);
  readonly noted: (readonly [address: number, length: number])[];

  constructor() {
    const noted: [number, number][] = [];
    super({ note: (address: number, length: number) => noted.push([address, length]) } as unknown as InstancePlace);
    this.noted = noted;
  }

  stdout(): void {}
  stderr(): void {}
}

/** Calls a WASI function, and tells how many bytes it has changed, and the first one that was not noted. */
function called(name: string, parameters: readonly unknown[]) {
  const call = new RecordedAccess();
  const bytes = new Uint8Array(call.memory.buffer).fill(0xa5);
  const numbers = new DataView(call.memory.buffer);
  for (const [index, value] of [AT[2], 30, AT[3], 30].entries()) numbers.setUint32(100 + 4 * index, value, true);
  call.stdin.push(Buffer.alloc(50, "x"));
  const before = bytes.slice();
  try {
    (wasiImports(() => call)[name] as unknown as (...values: unknown[]) => unknown)(...parameters);
  } catch {
    // It ends the guest.
  }
  const changed = [...bytes.keys()].filter((at) => bytes[at] !== before[at]);
  const unnoted = changed.find((at) => !call.noted.some(([from, length]) => at >= from && at < from + length));
  return { changed: changed.length, unnoted };
}

describe("what the host writes for WASI", () => {
  const names = Object.keys(wasiImports(() => new RecordedAccess()));

  test("is noted by every function that there is", () => {
    const writing = names.filter((name) => {
      const { changed, unnoted } = called(name, WASI[name] ?? AT);
      assert.equal(unnoted, undefined, name);
      return changed > 0;
    });
    assert.equal(
      writing.length,
      WRITING,
      `${writing.join(", ")}: these write; with one more its parameters belong into this test`,
    );
  });

  test("is tried with the parameters of functions that exist", () =>
    assert.deepEqual(
      Object.keys(WASI).filter((name) => !names.includes(name)),
      [],
    ));
});

/** A waPC guest that has its host write everything that it can, each to another region, and answers with an address of its own. */
const WAPC = `(module
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $response (param i32 i32)))
  (import "wapc" "__host_call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wapc" "__host_response" (func $answer (param i32)))
  (import "wapc" "__host_error" (func $error (param i32)))
  (memory (export "memory") 17)
  (data (i32.const 0) "{\\22accepted\\22:true}") (data (i32.const 600000) "kubewarden")
  (func (export "__guest_call") (param i32 i32) (result i32)
    (call $request (i32.const 100000) (i32.const 204780))
    (drop (call $call (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1)))
    (call $answer (i32.const 300000))
    (drop (call $call (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1)))
    (call $error (i32.const 409590))
    (call $response (i32.const 0) (i32.const 17))
    (i32.const 1)))`;

/** Answers a call with a binding, and refuses one without. */
const SIDE = {
  ...NO_SIDE,
  ask: ({ binding }: { readonly binding: string }): HostAnswer =>
    binding === "" ? { ok: false, error: "refused, at length" } : { ok: true, payload: Buffer.alloc(20_000, "y") },
};

/** Runs a guest twice in the same place. @returns warnings of memory that was not brought back by its marks */
async function warningsOf(bytes: Uint8Array, run: RunGuest): Promise<readonly string[]> {
  const warnings: string[] = [];
  const listen = ({ message }: Error) => warnings.push(message);
  process.on("warning", listen);
  const marking: Marking = { shifts: [13] };
  const host = { module: HOST_MODULE, name: MEMORY_NAME };
  const { bytes: rewritten, importedMemory: shape } = rewriteModule(bytes, { maximumPages: 100, importMemoryAs: host });
  const { bytes: extracted, image, own } = extractState(rewritten, shape);
  assert.ok(shape && image);
  const module = new WebAssembly.Module(meterModule(extracted, marking, own));
  const places = new Places();
  const whole = (place: InstancePlace) => Buffer.from(place.memory.buffer.slice(0, image.pages * 65_536));
  const began = whole(places.take(2, shape, image, { marking }));
  for (let round = 0; round < 2; round++) {
    const place = places.take(1, shape, image, { marking });
    assert.deepEqual(whole(place), began);
    const input = { operation: "validate", input: Buffer.alloc(30_000, '{"a":1}  ') };
    const answer = run({ module, isResettable: true }, input, new CallHost(SIDE, DEFAULT_GUEST_LIMITS, ENDLESS), place);
    assert.equal(answer.kind, "answer");
    assert.notDeepEqual(whole(place), began);
    places.give(place);
    places.tidy();
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  return warnings;
}

describe("what the host writes for other protocols", () => {
  test("is noted: questions, answers and errors of waPC", async () =>
    assert.deepEqual(await warningsOf(bytesOf(WAPC), wapcRunner()), []));

  test("is noted: what a Rego module is given", async () =>
    assert.deepEqual(await warningsOf(file("test/fixtures/mirror/rego.wasm"), regoRunner()), []));
});

describe("the sources", () => {
  test("see memories as bytes where that is noted, and nowhere else", () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
    const seeing = files.filter((path) =>
      /emory\.buffer(?!\.byteLength)|\(buffer\b|\{ buffer \}/.test(readFileSync(new URL(path, SOURCES), "utf8")),
    );
    assert.deepEqual(seeing.sort(), [...MAY_WRITE, ...READING, ...OTHER_MEMORIES].sort());
  });
});

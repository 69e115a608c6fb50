import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import {
  inGrowingHeap,
  smallYoungGeneration,
  withFrugalAllocator,
  withSmallYoungGeneration,
  YoungGeneration,
} from "../../src/serving/heap.js";

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

test("processes that answer requests keep little room for short-lived objects, as the executable's first line says", () => {
  const flags = withSmallYoungGeneration(["--enable-source-maps"]);
  assert.deepEqual(flags.slice(1), ["--enable-source-maps"]);
  const variables = Object.entries(withFrugalAllocator({})).map(([name, value]) => `${name}=${value}`);
  assert.deepEqual(variables, ["MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=32768"]);
  assert.equal(read("src/main.ts").split("\n")[0], `#!/usr/bin/env -S ${variables.join(" ")} node ${flags[0]}`);
  const { scripts } = JSON.parse(read("package.json")) as { scripts: { start: string } };
  assert.equal(scripts.start, `node ${flags[0]} dist/server/main.js`);
});

test("whoever has said how much room it is knows better", () => {
  assert.deepEqual(withSmallYoungGeneration(["--max-semi-space-size=64"]), ["--max-semi-space-size=64"]);
  assert.deepEqual(withSmallYoungGeneration([], "--trace-gc --max_semi_space_size=64"), []);
  assert.deepEqual(withSmallYoungGeneration([], "--min-semi-space-size=8"), []);
  assert.deepEqual(withFrugalAllocator({ MALLOC_ARENA_MAX: "4" }), { MALLOC_MMAP_THRESHOLD_: "32768" });
  assert.deepEqual(withFrugalAllocator({ MALLOC_ARENA_MAX: "4", MALLOC_MMAP_THRESHOLD_: "65536" }), {});
});

describe("the room for short-lived objects", () => {
  const MIB = 1024 * 1024;

  /** A heap that grows at once when it may and is asked, and a server that answers at an even pace. */
  function served(start: number) {
    let [bytes, time, may] = [start, 0, false];
    const heap = {
      bytes: () => bytes,
      mayGrow: (value: boolean): void => {
        may = value;
      },
    };
    const young = new YoungGeneration(heap, () => time);
    /** @param atOnce requests under way @param body bytes of each */
    const serve = (answers: number, atOnce: number, body: number): void => {
      for (let i = 0; i < answers; i++) {
        time += 1;
        young.answered(body, atOnce);
        if (may && i % 1_000 === 999 && bytes < 8 * MIB) bytes *= 2;
      }
    };
    return { serve, bytes: () => bytes / MIB, may: () => may };
  }

  test("stays as it is, with few small requests at a time", () => {
    const server = served(2 * MIB);
    assert.equal(server.may(), false);
    server.serve(20_000, 16, 6_000);
    assert.equal(server.bytes(), 2);
    const large = served(8 * MIB);
    large.serve(20_000, 16, 6_000);
    assert.equal(large.may(), false);
  });

  test("grows while much is loaded, and not from then on", async () => {
    const said: boolean[] = [];
    const young = new YoungGeneration({ bytes: () => MIB, mayGrow: (may) => said.push(may) }, () => 0);
    const load = () => Promise.resolve(said.at(-1));
    assert.equal(await inGrowingHeap(young, load), true);
    assert.equal(said.at(-1), false);
    await assert.rejects(
      inGrowingHeap(young, () => Promise.reject(new Error("no policies"))),
      /no policies/,
    );
    assert.equal(said.at(-1), false);
    young.close();
  });

  test("does not grow for a few small requests that have waited for long", () => {
    const server = served(2 * MIB);
    server.serve(256, 16, 6_000);
    server.serve(16, 60_000, 6_000);
    server.serve(240, 16, 6_000);
    assert.equal(server.may(), false);
  });

  test("is what small requests need after V8 has made it smaller", () => {
    const server = served(MIB);
    server.serve(256, 16, 100);
    assert.equal(server.may(), true);
    server.serve(20_000, 16, 100);
    assert.equal(server.bytes(), 2);
  });

  for (const [what, atOnce, body] of [
    ["large requests", 16, 97_000],
    ["many at a time", 200, 6_000],
  ] as const) {
    test(`grows with ${what}, and no more behind them`, () => {
      const server = served(2 * MIB);
      server.serve(512, 16, 6_000);
      assert.equal(server.may(), false);
      server.serve(20_000, atOnce, body);
      assert.equal(server.bytes(), 8);
      server.serve(512, 16, 6_000);
      assert.equal(server.may(), false);
    });
  }

  test("stays as it is when a thread begins, of which V8 makes a growth of 2 again", async () => {
    const said: boolean[] = [];
    const young = new YoungGeneration({ bytes: () => 2 * MIB, mayGrow: (may) => said.push(may) });
    const thread = async (): Promise<void> => {
      await once(new Worker("", { eval: true }), "exit");
    };
    young.answered(6_000, 1);
    assert.deepEqual(said, [false]);
    const ended = thread();
    await once(process, "worker");
    // As soon as may be: nobody tells when it happens.
    young.answered(6_000, 1);
    assert.deepEqual(said, [false, false]);
    await ended;
    assert.deepEqual(said, [false, false, false]);
    young.answered(6_000, 1);
    young.close();
    await thread();
    assert.equal(said.length, 3);
  });

  test("stays as it is when a thread is ended before it runs", async () => {
    const said: boolean[] = [];
    const young = new YoungGeneration({ bytes: () => 2 * MIB, mayGrow: (may) => said.push(may) });
    await new Worker("", { eval: true }).terminate();
    const { length } = said;
    young.answered(6_000, 1);
    assert.equal(said.length, length);
    young.close();
  });

  test("is left to whoever has said how large it is", () => {
    const heap = { bytes: () => MIB, mayGrow: () => {} };
    assert.equal(smallYoungGeneration(["--max-semi-space-size=64"], "", heap), undefined);
    assert.equal(smallYoungGeneration([], "--min_semi_space_size=8", heap), undefined);
    assert.ok(smallYoungGeneration(["--max-semi-space-size=8"], "--trace-gc", heap));
    assert.ok(smallYoungGeneration([], undefined, heap));
  });
});

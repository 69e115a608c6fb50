import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serve } from "./fake-policy.js";

describe("profiles (spec kubewarden.md 3.1)", () => {
  test("are served when switched on, one at a time, in a format that tools read", async () => {
    const server = await serve([], { profiles: true });
    const first = fetch(`${server.url}/debug/pprof/cpu?interval=0.3&frequency=1000`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal((await fetch(`${server.url}/debug/pprof/heap`)).status, 409);
    const cpu = await first;
    assert.equal(cpu.headers.get("content-type"), "application/octet-stream");
    assert.ok(Array.isArray(((await cpu.json()) as { samples: unknown }).samples));
    const heap = (await (await fetch(`${server.url}/debug/pprof/heap?interval=0.1`)).json()) as { head: unknown };
    assert.ok(heap.head);
    await server.stop({ delay: 0, grace: 0 });
  });

  test("do not exist otherwise", async () => {
    const server = await serve([]);
    assert.equal((await fetch(`${server.url}/debug/pprof/cpu`)).status, 404);
    await server.stop({ delay: 0, grace: 0 });
  });
});

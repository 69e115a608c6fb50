/** `net/v1/dns_lookup_host`, spec kubewarden.md 7.2. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCapabilities } from "../../../src/config/capability-patterns.js";
import { netCapability } from "../../../src/wasm/host/net.js";

const caller = { policy: "p", capabilities: parseCapabilities([]), contextAwareResources: [] };

test("names that are never resolved leave threads to others, and their followers their turn", async () => {
  const asked = new Map<string, (error?: Error) => void>();
  const net = netCapability(
    (host) =>
      new Promise((resolve, reject) =>
        asked.set(host, (error) => (error === undefined ? resolve(["192.0.2.1"]) : reject(error))),
      ),
  );
  const gone = new AbortController();
  const ask = async (host: string, signal = new AbortController().signal): Promise<unknown> =>
    net.operations["v1/dns_lookup_host"]?.run(host, { caller, signal });
  const slow = [ask("slow-1"), ask("slow-2")];
  const given = assert.rejects(ask("given-up", gone.signal));
  const next = ask("next");
  await new Promise(setImmediate);
  assert.deepEqual([...asked.keys()], ["slow-1", "slow-2"]);
  gone.abort();
  asked.get("slow-1")?.(new Error("timed out"));
  await assert.rejects(slow[0] ?? Promise.resolve(), { message: "timed out" });
  await given;
  await new Promise(setImmediate);
  assert.deepEqual([...asked.keys()], ["slow-1", "slow-2", "next"]);
  asked.get("next")?.();
  assert.deepEqual(await next, { ips: ["192.0.2.1"] });
  asked.get("slow-2")?.();
  await slow[1];
});

/** Modules that others than the operator choose: whose addresses are asked. */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, type TestContext, test } from "node:test";
import type { ModuleFetcherOptions } from "../../src/fetch/module-fetcher.js";
import { addressGuard } from "../../src/world/open-external.js";
import { failureOf, fetcher, folder, insecure, WASM } from "./helpers.js";
import { sha256, TestRegistry } from "./test-registry.js";

/** A port of this machine where nobody is to come. */
async function alone(context: TestContext) {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const guarded = (context: TestContext, more: Partial<ModuleFetcherOptions> = {}) =>
  fetcher(context, { guard: addressGuard(), ...more });

describe("modules at blocked addresses", () => {
  for (const host of [
    "127.0.0.1",
    "127.9.9.9",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:0:7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "169.254.20.10",
    "[fe80::1]",
    "[::ffff:169.254.20.10]",
  ])
    test(`of ${host} are not asked for, by HTTP or from a registry`, async (context) => {
      const { port, connections } = await alone(context);
      for (const location of [
        `http://${host}:${port}/x.wasm`,
        `https://${host}:${port}/x.wasm`,
        `registry://${host}:${port}/x:v1`,
      ])
        assert.match(
          await failureOf(guarded(context).file(location)),
          /is not asked: IP .* falls in blocked range/,
          location,
        );
      assert.equal(connections(), 0);
    });

  test("by a name are not asked for, and what lies in the folder does not stand in", async (context) => {
    const { port, connections } = await alone(context);
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "latest", WASM);
    for (const location of [`http://localhost:${port}/x.wasm`, `registry://localhost:${port}/x:v1`])
      assert.match(
        await failureOf(guarded(context).file(location)),
        /cannot reach localhost:.* falls in blocked range/,
      );
    assert.equal(connections(), 0);
    const downloadDirectory = folder(context);
    const location = `registry://${registry.host}/p`;
    await fetcher(context, { downloadDirectory, sources: insecure(registry.host) }).file(location);
    const asked = registry.requests.length;
    assert.match(await failureOf(guarded(context, { downloadDirectory }).file(location)), /falls in blocked range/);
    assert.equal(registry.requests.length, asked);
  });

  test("that are named in the list are not asked for, wherever they are", async (context) => {
    const guard = addressGuard({ blocklist: ["modules.invalid"] });
    assert.match(guard.refusal(new URL("https://169.254.20.10/")) ?? "", /falls in blocked range 169.254.0.0\/16/);
    assert.equal(addressGuard({ blocklist: [] }).refusal(new URL("https://169.254.20.10/")), undefined);
    for (const location of ["https://MODULES.invalid./x.wasm", "registry://modules.invalid/x:v1"])
      assert.match(await failureOf(fetcher(context, { guard }).file(location)), /is on the blocklist/);
  });

  test("are not where a server, a tag or a blob leads to", async (context) => {
    const { port, connections } = await alone(context);
    const registry = await TestRegistry.start(context);
    registry.pushModule("blob", "v1", WASM);
    for (const path of ["/x.wasm", "/v2/tag/manifests/v1", `/v2/blob/blobs/${sha256(WASM)}`])
      registry.special.set(path, (_, response) =>
        response.writeHead(302, { location: `https://127.0.0.1:${port}/` }).end(),
      );
    const modules = guarded(context, { sources: insecure(registry.host) });
    for (const location of [
      `http://${registry.host}/x.wasm`,
      `registry://${registry.host}/tag:v1`,
      `registry://${registry.host}/blob:v1`,
    ])
      assert.match(await failureOf(modules.file(location)), /127\.0\.0\.1:\d+ is not asked: IP/, location);
    assert.equal(connections(), 0);
  });

  test("are asked for where the operator lists the host", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "v1", WASM);
    const file = await guarded(context, { sources: insecure(registry.host) }).file(`registry://${registry.host}/p:v1`);
    assert.equal(file.digest, sha256(WASM));
  });
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startExample } from "../support/example-server.js";
import { until } from "../support/until.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "reload-"));
const file = join(folder, "policies.yaml");
after(() => rmSync(folder, { recursive: true, force: true }));

/** A rule that wants a word, and a guest beside it. */
const policies = (word: string, more = "") => `
rule: { cel: { validations: [ { expression: "object.word == '${word}'", message: "the word is ${word}" } ] } }
guest: { module: "${root}/test/fixtures/chaos/extism.wasm" }
group:
  expression: "rule() && guest()"
  message: "no"
  policies: { rule: { policy: rule }, guest: { policy: guest } }
${more}`;

describe("hot reload", async () => {
  writeFileSync(file, policies("one"));
  const server = await startExample("--policies", file);

  const ask = async (word: string, id = "group"): Promise<{ status: number; allowed?: boolean }> => {
    const response = await fetch(`${server.url}/validate_raw/${id}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ request: { word, mode: "accept" } }),
    });
    const body = (await response.json()) as { response?: { allowed: boolean } };
    return { status: response.status, ...(body.response && { allowed: body.response.allowed }) };
  };
  const generation = async () =>
    ((await (await fetch(`${server.url}/policies`)).json()) as { generation: number }).generation;
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
  const rejected = async () =>
    Number(/policy_server_reloads_total\{result="rejected"\} (\d+)/.exec(await metrics())?.[1] ?? 0);
  const settled = (what: string, done: () => Promise<boolean>) => until(what, done, () => server.log());

  test("a new set serves after SIGHUP, and no request fails meanwhile", async () => {
    assert.deepEqual(await ask("one"), { status: 200, allowed: true });
    writeFileSync(file, policies("two", "more: { cel: { validations: [ { expression: 'true' } ] } }"));
    let running = true;
    const traffic = (async () => {
      while (running) {
        const [one, two] = [await ask("one"), await ask("two")];
        assert.ok(one.status === 200 && two.status === 200);
      }
    })();
    process.kill(server.pid, "SIGHUP");
    await settled("the second version", async () => (await generation()) === 2);
    running = false;
    await traffic;
    assert.deepEqual(await ask("one"), { status: 200, allowed: false });
    assert.deepEqual(await ask("two"), { status: 200, allowed: true });
    assert.deepEqual(await ask("x", "more"), { status: 200, allowed: true });
    await server.said(/reloaded policies generation=2 added=\["?more/);
  });

  for (const [what, text] of [
    ["a file that is not YAML", "rule: ["],
    ["a policy that no longer loads", policies("two").replace("object.word ==", "object.word =")],
    ["a guest that is gone", policies("two").replace("chaos/extism.wasm", "chaos/gone.wasm")],
  ] as const) {
    test(`${what} is kept out: the old set goes on`, async () => {
      const before = await rejected();
      writeFileSync(file, text);
      process.kill(server.pid, "SIGHUP");
      // Counted when all processes have told: the first that has, has logged before, and a signal that comes meanwhile sets off no reload of its own.
      await settled("the refusal", async () => (await rejected()) > before);
      await server.said("reload kept out");
      assert.equal(await generation(), 2);
      assert.deepEqual(await ask("two"), { status: 200, allowed: true });
    });
  }

  test("mended and reloaded, with a policy removed on purpose", async () => {
    writeFileSync(file, policies("three"));
    process.kill(server.pid, "SIGHUP");
    await settled("the third version", async () => (await generation()) === 3);
    assert.deepEqual(await ask("three"), { status: 200, allowed: true });
    assert.equal((await ask("x", "more")).status, 404);
    await settled("the count", async () => /policy_server_reloads_total\{result="applied"\} 2/.test(await metrics()));
    assert.equal(await rejected(), 3);
  });

  test("it stops in order", async () => assert.equal(await server.stop(), 0));
});

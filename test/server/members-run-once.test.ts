import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startExample } from "../support/example-server.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "members-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const POLICIES = `
guest: { module: "${root}/test/fixtures/chaos/extism.wasm" }
rule: { cel: { validations: [ { expression: "object.rule == 'yes'", message: "rule says no" } ] } }
nested:
  expression: "inner()"
  message: "nested says no"
  policies:
    inner: { cel: { validations: [ { expression: "object.inner == 'yes'", message: "inner says no" } ] } }
all:
  expression: "wasm() && (vap() || !nested()) && (wasm() || vap())"
  message: "all says no"
  policies:
    wasm: { policy: guest }
    vap: { policy: rule }
    nested: { policy: nested }
`;

describe("a group of a WASM module, a CEL policy and a group, over HTTP", async () => {
  const file = join(folder, "policies.yaml");
  writeFileSync(file, POLICIES);
  const server = await startExample("--policies", file, "--log-fmt", "json");

  const ask = async (payload: object) => {
    const response = await fetch(`${server.url}/validate_raw/all`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ request: payload }),
    });
    return ((await response.json()) as { response: { allowed: boolean; warnings: string[] | null } }).response;
  };

  /** How often each member was evaluated so far, by the server's own metrics. */
  const evaluations = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const counts = new Map<string, number>();
    for (const [, name = "", count] of text.matchAll(
      /^policy_server_member_evaluation_seconds_count\{policy_name="([^"]+)"[^}]*\} (\d+)/gm,
    )) {
      counts.set(name, (counts.get(name) ?? 0) + Number(count));
    }
    return Object.fromEntries([...counts].sort());
  };

  /** The members of the last decision record. */
  const lastMembers = async () => {
    // Lines are written in batches, some milliseconds after the answer.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const line =
      server
        .log()
        .trim()
        .split("\n")
        .filter((text) => text.includes("policy evaluated"))
        .at(-1) ?? "{}";
    const { fields } = JSON.parse(line) as { fields: { members: { policy: string; outcome: string }[] } };
    return fields.members.map(({ policy, outcome }) => `${policy} ${outcome}`);
  };

  test("the guest rejects: nothing else runs", async () => {
    const { allowed, warnings } = await ask({ mode: "reject" });
    assert.equal(allowed, false);
    assert.deepEqual(warnings, [
      "wasm was rejected: chaos says no",
      "vap was not evaluated",
      "nested was not evaluated",
    ]);
    assert.deepEqual(await evaluations(), { "all/wasm": 1 });
    assert.deepEqual(await lastMembers(), ["all/wasm deny"]);
  });

  test("the rule accepts: the nested group is not needed, the guest named twice ran once", async () => {
    const { allowed, warnings } = await ask({ mode: "accept", rule: "yes" });
    assert.deepEqual([allowed, warnings], [true, null]);
    assert.deepEqual(await evaluations(), { "all/vap": 1, "all/wasm": 2 });
    assert.deepEqual(await lastMembers(), ["all/wasm allow", "all/vap allow"]);
  });

  test("the nested group decides", async () => {
    const { allowed } = await ask({ mode: "accept", rule: "no", inner: "no" });
    assert.equal(allowed, true);
    assert.deepEqual(await evaluations(), { "all/nested": 1, "all/vap": 2, "all/wasm": 3, "nested/inner": 1 });
    assert.deepEqual(await lastMembers(), ["all/wasm allow", "all/vap deny", "nested/inner deny", "all/nested deny"]);
  });

  test("SIGTERM ends it in order", async () => assert.equal(await server.stop(), 0));
});

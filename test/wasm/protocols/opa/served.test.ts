/** Modules in Rego behind a server: what their host's builtins say decides about requests. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type ExampleServer, startExample } from "../../../support/example-server.js";
import { file } from "../../support.js";

const folder = mkdtempSync(join(tmpdir(), "served-rego-"));
let server: ExampleServer;

before(async () => {
  const served = file("test/vectors/rego/served.wasm");
  writeFileSync(join(folder, "served.wasm"), served);
  // A module that writes values as JSON only: the same, whose export has another name of that length.
  writeFileSync(
    join(folder, "plain.wasm"),
    Buffer.from(served.toString("latin1").replaceAll("opa_value_dump", "opa_value_xxxx"), "latin1"),
  );
  writeFileSync(join(folder, "expressions.wasm"), file("test/vectors/rego/expressions.wasm"));
  const gatekeeper = (name: string, module = name, seconds = 10): string =>
    `${name}: { module: ${module}.wasm, executionMode: gatekeeper, settings: { labels: [team, app] }, timeoutEvalSeconds: ${seconds} }\n`;
  const policies = `${gatekeeper("served")}${gatekeeper("plain")}${gatekeeper("short", "served", 1)}expressions: { module: expressions.wasm, executionMode: opa }\n`;
  writeFileSync(join(folder, "policies.yaml"), policies);
  server = await startExample("--policies", join(folder, "policies.yaml"));
});

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly allowed: boolean;
  readonly status?: { readonly message?: string; readonly code?: number };
}

async function post(path: string, request: unknown): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const answered = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify({ request }) });
  return ((await answered.json()) as { response: Answer }).response;
}

const GOOD = { version: "1.0.0", team: "a", app: "b" };

function admit(policy: string, labels: object, annotations: object = {}): Promise<Answer> {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "x", labels, annotations } };
  return post(`/validate/${policy}`, { uid: "u", kind, resource, operation: "CREATE", userInfo: {}, object });
}

describe("a Gatekeeper module behind a server", () => {
  test("allows what its rules allow", async () => {
    assert.equal((await admit("served", GOOD, { keep: "1w6d", config: "debug: off", patch: "[]" })).allowed, false);
    assert.equal((await admit("served", GOOD, { keep: "1w6d", config: "debug: off" })).allowed, true);
  });

  test("denies versions that are none", async () => {
    for (const version of [
      "01.0.0",
      "1.0.0-",
      "1.0.0+",
      "1.0.0-01",
      "1.00.0",
      "1.0.0-rc.00",
      "1.0",
      "v1.0.0",
      "x".repeat(9_000),
    ]) {
      const { allowed, status } = await admit("served", { ...GOOD, version });
      assert.equal(allowed, false, version);
      if (version.length < 20) assert.equal(status?.message, `${version} is no version`);
    }
    for (const version of ["1.0.0", "1.0.0-rc.1", "1.0.0-0a+01"])
      assert.equal((await admit("served", { ...GOOD, version })).allowed, true);
  });

  test("prints sets as sets, and as lists where the module only writes JSON", async () => {
    const missing = async (policy: string) => (await admit(policy, { version: "1.0.0" })).status?.message;
    assert.equal(await missing("served"), 'missing: {"app", "team"}');
    assert.match((await missing("plain")) ?? "", /^missing: \["(?:app", "team|team", "app)"\]$/);
  });

  test("reads days and weeks in durations, and YAML's on and off as texts", async () => {
    assert.equal((await admit("served", GOOD, { keep: "15d" })).status?.message, "kept for too long");
    assert.equal((await admit("served", GOOD, { config: "debug: on" })).status?.message, "debug: on");
  });

  test("gets sets back from json.patch as sets", async () => {
    const patch = (...operations: object[]) => admit("served", GOOD, { patch: JSON.stringify(operations) });
    assert.equal((await patch()).status?.message, 'patched: {"names": {"a", "b"}}');
    assert.equal((await patch({ op: "add", path: "/names/c", value: "c" })).allowed, true);
    assert.equal((await patch({ op: "remove", path: "/names/a" })).status?.message, 'patched: {"names": {"b"}}');
    const failed = await patch({ op: "add", path: "/names/d", value: "e" });
    assert.deepEqual([failed.allowed, failed.status?.code], [false, 500]);
  });

  test("is ended when a builtin takes longer than its time", async () => {
    const { allowed, status } = await admit("short", GOOD, { text: "a".repeat(50_000) });
    assert.deepEqual([allowed, status?.code], [false, 500]);
    assert.match(status?.message ?? "", /execution deadline exceeded/);
    // Its thread is free again, and its policy answers.
    assert.equal((await admit("short", GOOD)).allowed, true);
  });
});

test("an OPA module behind a server answers a raw request by what its builtins say", async () => {
  const lines = file("test/vectors/rego/expressions.jsonl").toString().trim().split("\n");
  const ask = async (expr: string) => {
    const q = lines.findIndex((line) => (JSON.parse(line) as { expr: string }).expr === expr);
    return (await post("/validate_raw/expressions", { q })).status?.message;
  };
  assert.equal(await ask('semver.is_valid("01.0.0")'), "[false]");
  assert.equal(await ask('sprintf("%s", [set()])'), '["set()"]');
  assert.equal(await ask('yaml.unmarshal("a: on")'), '[{"a":"on"}]');
});

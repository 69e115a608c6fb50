import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { admissionReview } from "../server/fake-policy.js";
import { type ExampleServer, startExample } from "../support/example-server.js";
import { GIVE_UP_MS } from "../support/until.js";

const fixtures = fileURLToPath(new URL("../../../test/fixtures/chaos", import.meta.url));
const folder = mkdtempSync(path.join(os.tmpdir(), "serve-guest-logs-"));
const file = path.join(folder, "policies.yaml");
writeFileSync(
  file,
  `extism: {module: "file://${fixtures}/extism.wasm"}
wapc: {module: "file://${fixtures}/wapc.wasm"}
wasi: {module: "file://${fixtures}/wasi.wasm", executionMode: wasi}
group: {expression: "a()", message: m, policies: {a: {module: "file://${fixtures}/wapc.wasm"}}}
`,
);

interface Line {
  readonly level: string;
  readonly target: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What guests say comes out as spec kubewarden.md 7.3 and 8.2 have it, whatever way they say it. */
describe("guests' log lines in serve --log-fmt json", () => {
  let server: ExampleServer;
  before(async () => {
    server = await startExample("--policies", file, "--workers", "1", "--log-fmt", "json", "--log-level", "trace");
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function said(policy: string, mode: string): Promise<Line[]> {
    const uid = `${policy}-${mode}`;
    const review = admissionReview({ uid, object: { metadata: { annotations: { "chaos/mode": mode } } } });
    const headers = { "Content-Type": "application/json" };
    await fetch(`${server.url}/validate/${policy}`, { method: "POST", headers, body: JSON.stringify(review) });
    for (const deadline = Date.now() + GIVE_UP_MS; Date.now() < deadline; await sleep(20)) {
      const lines = server
        .log()
        .split("\n")
        .slice(0, -1)
        .map((text): Line => {
          const { level, target, fields } = JSON.parse(text);
          return { level, target, fields };
        })
        .filter(({ fields }) => fields.request_uid === uid);
      // The decision comes last.
      if (lines.some(({ target }) => target === "policy_server"))
        return lines.filter(({ target }) => target === "policy_log");
    }
    assert.fail(`no decision on ${uid}:\n${server.log()}`);
  }

  for (const [policy, level, message, id = policy] of [
    ["extism", "WARN", "hello from chaos"],
    ["wapc", "INFO", "hello from chaos"],
    ["wasi", "WARN", "validate: hello from chaos"],
    ["group", "INFO", "hello from chaos", "group/a"],
  ] as const) {
    test(`${policy}: its protocol's own way`, async () => {
      assert.deepEqual(await said(policy, "log"), [
        line(level, { message, policy_id: id, request_uid: `${policy}-log` }),
      ]);
    });

    test(`${policy}: the host capability`, async () => {
      const data = '{"container":"web"}';
      const fields = { message: "hello from chaos", policy_id: id, request_uid: `${policy}-host-event`, data };
      assert.deepEqual(await said(policy, "host-event"), [line("WARN", fields)]);
    });
  }
});

function line(level: string, fields: Line["fields"]): Line {
  return { level, fields, target: "policy_log" };
}

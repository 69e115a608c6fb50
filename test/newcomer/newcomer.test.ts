/** What a newcomer does, with what `npm pack` makes, in an empty folder: each step needs those before it. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { freePort } from "../support/example-server.js";
import { bytesBelow, installPacked } from "../support/installed.js";
import { GIVE_UP_MS, until } from "../support/until.js";

/** What an installation may take, in bytes: it is downloaded onto laptops and into pipelines. */
const MAX_INSTALLED = 45_000_000;

const { folder, own, executable, env, printed, remove } = await installPacked();
after(remove);

interface Ran {
  readonly code: number;
  readonly out: string;
}

/** Runs a program in the folder, or one below it; both of its streams are read. */
function run(file: string, args: readonly string[], cwd = folder): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { cwd, env, timeout: GIVE_UP_MS }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, out: stdout + stderr }),
    );
  });
}

const policyServer = (line: string): Promise<Ran> => run(executable, line.split(" "));

async function succeeds(line: string, said: RegExp | string): Promise<void> {
  const { code, out } = await policyServer(line);
  assert.equal(code, 0, `${line}: ${out}`);
  if (typeof said === "string") assert.equal(out.trim(), said);
  else assert.match(out, said);
}

/** Starts the server, and waits until it answers. */
async function serve(): Promise<{ url: string; child: ChildProcess }> {
  const port = await freePort();
  const ports = ["--port", String(port), "--readiness-probe-port", String(await freePort()), "--addr", "127.0.0.1"];
  const started = ["serve", ...ports, "--workers", "1"];
  const child = spawn(executable, started, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));
  const url = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(`${url}/version`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(
    "the server",
    async () => {
      assert.equal(child.exitCode, null, said);
      return answers();
    },
    () => said,
  );
  return { url, child };
}

describe("a newcomer, in an empty folder", { concurrency: false, timeout: 240_000 }, () => {
  test("installs what is not too large, and npm warns of nothing", () => {
    assert.doesNotMatch(printed, /warn/i);
    assert.ok(bytesBelow(join(folder, "node_modules")) < MAX_INSTALLED);
  });

  test("asks for the version and for help", async () => {
    const { version } = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as { version: string };
    await succeeds("--version", `policy-server ${version}`);
    await succeeds("help scaffold", /Examples:/);
  });

  test("scaffolds policies of each kind, and a group of them", async () => {
    for (const made of ["cel need-team", "vap few-replicas --param", "kyverno limits", "wasm need-owner"])
      await succeeds(`scaffold ${made}`, /^made /);
    await succeeds("scaffold group both --members need-team,few-replicas,limits", /both was added/);
    await succeeds("check", "policies.yaml: 4 policies, no errors");
  });

  test("builds the WASM policy with the kit of the package", async () => {
    for (const args of [["install"], ["test"]]) {
      const { code, out } = await run("npm", args, join(folder, "need-owner"));
      assert.equal(code, 0, out);
      assert.doesNotMatch(out, /warn/i);
    }
    await succeeds("check need-owner/policies.yaml", "need-owner/policies.yaml: 1 policy, no errors");
  });

  test("tests them all", () => succeeds("test", /^[1-9]\d* passed, 0 failed$/m));

  test("evaluates a policy and a module", async () => {
    const { code, out } = await policyServer("eval need-team -o text --object policies/need-team/bad.yaml");
    assert.equal(code, 1, out);
    assert.match(out, /^DENIED {2}need-team/);
    writeFileSync(join(folder, "settings.yaml"), "label: owner\n");
    const asked = "eval ./need-owner/policy.wasm --settings settings.yaml -o text --object policies/need-team/bad.yaml";
    assert.match((await policyServer(asked)).out, /the label owner is missing/);
  });

  test("serves them, asks, and opens the page", async () => {
    const review = await policyServer("scaffold review policies/need-team/bad.yaml");
    const { url, child } = await serve();
    try {
      const read = async (path: string) => {
        const response = await fetch(`${url}${path}`);
        assert.equal(response.status, 200, path);
        return response.text();
      };
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`${url}/validate/both`, { method: "POST", headers, body: review.out });
      assert.match(await answer.text(), /"allowed":false,.*the label team is missing/);
      const page = await read("/");
      assert.match(page, /^<!doctype html>/i);
      const parts = [...page.matchAll(/(?:src|href)="(page\/[^"]+)"/g)].map(([, path = ""]) => path);
      assert.ok(parts.length > 0);
      for (const path of parts) await read(`/${path}`);
      assert.match(await read("/page/state"), /"id":"both"/);
      assert.match(await read("/openapi.json"), /"openapi":"3\.1\.0"/);
    } finally {
      child.kill("SIGTERM");
    }
  });

  test("imports the library, and CEL alone, with nothing but production dependencies", async () => {
    writeFileSync(
      join(folder, "ask.mjs"),
      `import { createEvaluator, createReview, createServer, loadPolicies } from "policy-group-gateway";
import * as cel from "policy-group-gateway/cel";
const loaded = await loadPolicies({ file: "policies.yaml" });
const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" } };
const { allowed } = await createEvaluator(loaded).evaluate("need-team", createReview({ object }));
loaded.close();
console.log(allowed, typeof createServer, Object.keys(cel).length > 0);
`,
    );
    assert.deepEqual(await run(process.execPath, ["ask.mjs"]), { code: 0, out: "false function true\n" });
  });
});

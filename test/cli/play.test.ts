import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";
import { freePort } from "../../src/cli/play/index.js";
import type { EvaluateAnswer, PageState } from "../../src/page/api.js";

const folder = mkdtempSync(path.join(tmpdir(), "play-command-"));
after(() => rmSync(folder, { recursive: true }));
const main = fileURLToPath(new URL("../../server/main.js", import.meta.url));

/** Runs a command line that ends by itself; what it says. */
async function said(...args: string[]): Promise<string> {
  let text = "";
  const write = (chunk: string): boolean => {
    text += chunk;
    return true;
  };
  const io = { stdout: { write }, stderr: { write }, stdin: process.stdin, env: {} };
  const exitCode = await runCommandLine(args, io as never);
  return `${exitCode} ${text}`;
}

test("a page that takes drafts is refused where others could reach it", async () => {
  assert.match(await said("serve", "--page", "play"), /^2 .*--addr is 0\.0\.0\.0: add --addr 127\.0\.0\.1/);
  assert.match(await said("serve", "--page", "play", "--addr", "10.0.0.1"), /^2 /);
  assert.match(await said("serve", "--page", "on"), /^2 .*'on' is not one of off, read, play/);
});

test("play says what is wrong with its arguments", async () => {
  assert.match(await said("play", path.join(folder, "nobody.yaml")), /^2 .*nobody\.yaml is not there/);
  assert.match(await said("play", "--port", "70000"), /^2 .*--port: expected a port/);
  assert.match(await said("play", "--help"), /Examples:?\s[\s\S]*policy-server play policies.yaml --open/);
});

test("a port that is taken is passed over", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  assert.notEqual(await freePort("127.0.0.1", port), port);
  server.close();
});

test("play begins without policies, evaluates an example, and takes over a policies.yaml that is written", async () => {
  const child = spawn(process.execPath, [main, "play", "--port", "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, KUBECONFIG: "/nowhere" },
  });
  try {
    let text = "";
    for await (const chunk of child.stdout) {
      text += String(chunk);
      if (text.includes("\n")) break;
    }
    const [, url = ""] = /The page is at (http:\/\/localhost:\d+)\//.exec(text) ?? [];
    const base = url.replace("localhost", "127.0.0.1");
    const state = async () => (await (await fetch(`${base}/page/state`)).json()) as PageState;
    const { mode, policies, examples } = await state();
    assert.deepEqual([mode, policies, examples.length], ["play", [], 3]);
    const [example] = examples;
    const response = await fetch(`${base}/page/evaluate`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: base },
      body: JSON.stringify({ draft: example?.draft, payload: example?.payload }),
    });
    const { answer } = (await response.json()) as EvaluateAnswer;
    assert.deepEqual([answer?.allowed, answer?.explained.message], [false, "at most 3 replicas, not 5"]);
    writeFileSync(path.join(folder, "policies.yaml"), "p: { cel: { validations: [{ expression: 'true' }] } }\n");
    while ((await state()).policies.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(
      (await state()).policies.map(({ id, source }) => [id, source?.text.trim()]),
      [["p", "p: { cel: { validations: [{ expression: 'true' }] } }"]],
    );
  } finally {
    child.kill("SIGINT");
  }
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

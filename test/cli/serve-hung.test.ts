/** A serving process that hangs: what is lost is what its own connections hold; the others answer, reload and stop without it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { admissionReview } from "../server/fake-policy.js";
import { type ExampleServer, startExample } from "../support/example-server.js";
import { until } from "../support/until.js";

const folder = mkdtempSync(path.join(os.tmpdir(), "serve-hung-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function policies(message: string): string {
  return `p:\n  cel:\n    validations:\n      - expression: "false"\n        message: ${JSON.stringify(message)}\n`;
}

/** Asks on a connection of its own. */
async function message(server: ExampleServer): Promise<string> {
  const response = await fetch(`${server.url}/validate/p`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Connection: "close" },
    body: JSON.stringify(admissionReview()),
  });
  const { response: answer } = (await response.json()) as { response: { status: { message: string } } };
  return answer.status.message;
}

/** The processes that answer: each says so in its own time, one of them before the server is ready. */
async function bothServing(server: { log(): string }): Promise<readonly number[]> {
  const pids = (): number[] =>
    Array.from(server.log().matchAll(/serving policies.* pid=(\d+)/g), ([, pid]) => Number(pid));
  await until(
    "the word of both",
    () => pids().length >= 2,
    () => server.log(),
  );
  return pids();
}

const count = (server: ExampleServer, text: string): number => server.log().split(text).length - 1;
const status = async (url: string): Promise<number> => (await fetch(url, { headers: { Connection: "close" } })).status;

describe("with one of two processes stopped", () => {
  test("readiness and metrics say so, it is replaced, others answer and reload meanwhile, and the end is not held up", async (t) => {
    const file = path.join(folder, "policies.yaml");
    writeFileSync(file, policies("one"));
    const options = ["--workers", "2", "--drain-delay", "0", "--drain-grace", "1"];
    const server = await startExample("--policies", file, ...options);
    t.after(() => server.stop());
    const [stopped] = await bothServing(server);
    assert.ok(stopped !== undefined);
    for (let i = 0; i < 8; i++) assert.equal(await message(server), "one");
    assert.equal(await status(`${server.probes}/metrics`), 200);

    process.kill(stopped, "SIGSTOP");
    // At once, before anybody can know of it.
    writeFileSync(file, policies("two"));
    process.kill(server.pid, "SIGHUP");
    const scrapes = [server.probes, server.url].map((port) =>
      fetch(`${port}/metrics`, { headers: { Connection: "close" } }),
    );
    await until("readiness that fails", async () => (await status(`${server.probes}/readiness`)) === 503);
    assert.equal(count(server, "nothing is heard from it"), 0, "it is noticed before it is killed");
    assert.equal(await message(server), "one");
    for (const metrics of await Promise.all(scrapes)) {
      assert.equal(metrics.status, 503);
      assert.match(await metrics.text(), /^no metrics: 1 of 2 serving processes did not hand over theirs/);
    }

    await until("the replacement", () => count(server, "serving policies") === 3);
    await until("the reload", () => count(server, "reloaded policies") > 0);
    await server.said(new RegExp(`nothing is heard from it, it is killed process=${stopped}`));
    for (let i = 0; i < 8; i++)
      await until("the new policies everywhere", async () => (await message(server)) === "two");
    assert.equal(await status(`${server.probes}/readiness`), 200);
    const metrics = await (await fetch(`${server.probes}/metrics`)).text();
    assert.match(metrics, /^policy_server_processes_replaced_total\{reason="hung"\} 1$/m);
    assert.match(metrics, /^policy_server_reloads_total\{result="applied"\} 1$/m);
    const evaluations = /^kubewarden_policy_evaluations_total\{.*\} (\d+)$/m.exec(metrics);
    assert.ok(Number(evaluations?.[1]) >= 8, "what the killed process had handed over stays counted");

    const pids = Array.from(server.log().matchAll(/serving policies.* pid=(\d+)/g), ([, pid]) => Number(pid));
    process.kill(Number(pids.at(-1)), "SIGSTOP");
    assert.equal(await server.stop(), 0);
    assert.equal(count(server, "did not end in time: it is killed"), 1, server.log());
  });

  test("nobody is to blame for the time in which all of them were stopped", async (t) => {
    const file = path.join(folder, "all.yaml");
    writeFileSync(file, policies("one"));
    const server = await startExample("--policies", file, "--workers", "2");
    t.after(() => server.stop());
    const pids = await bothServing(server);
    for (const pid of [server.pid, ...pids]) process.kill(pid, "SIGSTOP");
    await sleep(11_000);
    for (const pid of [server.pid, ...pids]) process.kill(pid, "SIGCONT");
    await sleep(2000);
    assert.equal(await message(server), "one");
    assert.equal(count(server, "it is killed"), 0, server.log());
  });
});

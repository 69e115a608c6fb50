import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { after, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";
import { TestRegistry } from "../fetch/test-registry.js";
import { admissionReview } from "../server/fake-policy.js";
import { ask, tlsFolder } from "../server/tls-files.js";
import { type ExampleServer, freePort, startExample } from "../support/example-server.js";
import { until } from "../support/until.js";
import { written } from "../support/written.js";

const folder = mkdtempSync(path.join(os.tmpdir(), "serve-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const root = fileURLToPath(new URL("../../..", import.meta.url));
const GOOD = JSON.stringify(admissionReview());

/** A policy that denies with this message. */
function policies(message: string): string {
  return `p:\n  cel:\n    validations:\n      - expression: "false"\n        message: ${JSON.stringify(message)}\n`;
}

async function message(server: ExampleServer, init: RequestInit = {}): Promise<string> {
  const response = await fetch(`${server.url}/validate/p`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: GOOD,
    ...init,
  });
  const { response: answer } = (await response.json()) as { response: { status: { message: string } } };
  return answer.status.message;
}

/** A server that ends with its test, whatever becomes of that. */
async function start(context: TestContext, ...args: readonly string[]): Promise<ExampleServer> {
  const server = await startExample(...args);
  context.after(() => server.stop());
  return server;
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

for (const workers of ["1", "2"]) {
  describe(`serve with ${workers} process(es)`, () => {
    test("reloads on SIGHUP and on changed files, keeps what it has when the new file is worse, and loses no request", async (t) => {
      const file = path.join(folder, `policies-${workers}.yaml`);
      writeFileSync(file, policies("one"));
      const server = await start(t, "--policies", file, "--workers", workers);
      let running = true;
      const seen = new Set<string>();
      const load = async (): Promise<void> => {
        while (running) {
          seen.add(await message(server));
          await sleep(2);
        }
      };
      const clients = [load(), load()];
      assert.equal(await message(server), "one");

      writeFileSync(file, policies("two"));
      process.kill(server.pid, "SIGHUP");
      await until("the second version", () => seen.has("two"));

      writeFileSync(file, "p: [broken");
      await until("the refusal", () => server.log().includes("reload kept out"));
      assert.equal(await message(server), "two");

      writeFileSync(file, policies("three"));
      await until("the third version, without a signal", () => seen.has("three"));

      running = false;
      await Promise.all(clients);
      assert.deepEqual([...seen].sort(), ["one", "three", "two"]);
      const metrics = await (await fetch(`${server.probes}/metrics`)).text();
      assert.match(metrics, /policy_server_reloads_total\{result="rejected"\} [1-9]/);
      assert.equal(await server.stop(), 0);
    });
  });
}

for (const workers of ["1", "2"]) {
  test(`with ${workers} process(es), says its URL to people once, and in the log, also when any port may be taken`, async () => {
    const file = path.join(folder, `url-${workers}.yaml`);
    writeFileSync(file, policies("one"));
    const ports = ["--port", "0", "--readiness-probe-port", "0", "--workers", workers];
    const started = ["dist/server/main.js", "--addr", "127.0.0.1", ...ports, "--policies", file];
    const child = spawn(process.execPath, started, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let [log, told] = ["", ""];
    child.stdout.on("data", (chunk) => (log += String(chunk)));
    child.stderr.on("data", (chunk) => (told += String(chunk)));
    await until(
      "the line for people",
      () => told.includes("\n"),
      () => log + told,
    );
    const [, url = ""] =
      /^Serving on (http:\/\/127\.0\.0\.1:\d+) \(in a browser: the page\)\. Ctrl\+C stops it\.\n$/.exec(told) ?? [];
    assert.equal((await fetch(`${url}/version`)).status, 200, told);
    await until("the log", () => log.includes(` url=${url} `));
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });
}

for (const workers of ["1", "2"]) {
  test(`with ${workers} process(es), a SIGHUP before all is ready is not lost, and neither it nor one while it stops ends it`, async () => {
    const file = path.join(folder, `early-${workers}.yaml`);
    writeFileSync(file, policies("one"));
    const ports = ["--port", `${await freePort()}`, "--readiness-probe-port", `${await freePort()}`];
    const started = ["dist/server/main.js", "--addr", "127.0.0.1", ...ports, "--policies", file];
    started.push("--workers", workers, "--drain-delay", "1");
    const child = spawn(process.execPath, started, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    let hungUp = false;
    child.stderr.on("data", (chunk) => (log += String(chunk)));
    child.stdout.on("data", (chunk) => {
      log += String(chunk);
      // The first line tells that the first process serves, before the primary knows.
      if (!hungUp) hungUp = child.kill("SIGHUP");
    });
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    await until(
      "the reload",
      () => log.includes("reloaded policies") || isOver(),
      () => log,
    );
    assert.ok(!isOver(), log);
    child.kill("SIGTERM");
    await until(
      "the end's beginning",
      () => log.includes("stopping"),
      () => log,
    );
    child.kill("SIGHUP");
    assert.deepEqual(await once(child, "exit"), [0, null]);
    assert.ok(log.split("reloaded policies").length - 1 <= Number(workers), log);
  });
}

describe("serve on several processes", () => {
  test("adds up the metrics of all, replaces one that dies, and answers meanwhile", async (t) => {
    const file = path.join(folder, "several.yaml");
    writeFileSync(file, policies("no"));
    const server = await start(t, "--policies", file, "--workers", "2", "--log-fmt", "json");
    const counted = async (): Promise<number> => {
      const text = await (await fetch(`${server.url}/metrics`, { headers: { Connection: "close" } })).text();
      return Number(/^kubewarden_policy_evaluations_total\{.*\} (\d+)$/m.exec(text)?.[1]);
    };
    for (let i = 0; i < 20; i++)
      await message(server, { headers: { "Content-Type": "application/json", Connection: "close" } });
    assert.equal(await counted(), 20);
    const pids = (): Set<string> => new Set(server.log().match(/"pid":\d+/g));
    await until(
      "the word of both",
      () => pids().size === 2,
      () => server.log(),
    );
    const [first] = pids();
    process.kill(Number(first?.slice(6)), "SIGKILL");
    await until("the replacement", () => (server.log().match(/"message":"serving policies"/g)?.length ?? 0) === 3);
    assert.equal(await message(server, { headers: { "Content-Type": "application/json", Connection: "close" } }), "no");
    assert.equal(await server.stop(), 0);
  });

  test("a process that dies while the files hold policies that were kept out is not replaced before they are mended", async (t) => {
    const file = path.join(folder, "kept-out.yaml");
    const second = (expression: string): string => `q: {cel: {validations: [{expression: ${expression}}]}}\n`;
    writeFileSync(file, policies("one") + second('"true"'));
    const server = await start(t, "--policies", file, "--workers", "2");
    const pids = await bothServing(server);
    const answers = async (): Promise<string[]> => {
      const seen = new Set<string>();
      for (let i = 0; i < 20; i++)
        seen.add(await message(server, { headers: { "Content-Type": "application/json", Connection: "close" } }));
      return [...seen];
    };
    writeFileSync(file, policies("two") + second('"tr(ue"'));
    await until("the count", async () =>
      /reloads_total\{result="rejected"\} 1/.test(await (await fetch(`${server.probes}/metrics`)).text()),
    );
    process.kill(Number(pids[0]), "SIGKILL");
    await until("the error", () => server.log().split(/is not replaced while|serving policies/).length === 4);
    assert.deepEqual(await answers(), ["one"]);
    writeFileSync(file, policies("three") + second('"true"'));
    await until("the replacement", () => server.log().split("serving policies").length === 4);
    assert.deepEqual(await answers(), ["three"]);
    assert.equal(await server.stop(), 0);
  });

  test("files of a configuration that was kept out are looked after: mending them is enough, and is one reload", async (t) => {
    const file = path.join(folder, "mended.yaml");
    const resource = (name: string, expression: string): void =>
      writeFileSync(
        path.join(folder, name),
        `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: ${JSON.stringify(expression)}, message: ${name}}]
`,
      );
    resource("a.yaml", "false");
    resource("b.yaml", "fal(se");
    writeFileSync(file, "p: {resource: a.yaml}\n");
    const server = await start(t, "--policies", file, "--workers", "2");
    writeFileSync(file, "p: {resource: b.yaml}\n");
    // Counted when all have told that are known to serve; the state that was refused is known right behind that, well before the next look, which is a second later.
    await until("the count", async () =>
      /reloads_total\{result="rejected"\} 1/.test(await (await fetch(`${server.probes}/metrics`)).text()),
    );
    await sleep(1500);
    resource("b.yaml", "false");
    await until("the reload", () => server.log().split("reloaded policies").length === 3);
    await sleep(3500);
    assert.equal(server.log().split("reloaded policies").length, 3, "once in each process");
    const metrics = await (await fetch(`${server.probes}/metrics`)).text();
    assert.match(metrics, /reloads_total\{result="applied"\} 1$/m);
    assert.equal(await server.stop(), 0);
  });

  test("a reload while nobody serves is said, counts as no refusal, and is not lost on those that start", async (t) => {
    const file = path.join(folder, "nobody.yaml");
    writeFileSync(file, policies("one"));
    const server = await start(t, "--policies", file, "--workers", "2", "--disable-policy-watch");
    const pids = await bothServing(server);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await until("the ends", () => server.log().split("died and is replaced").length === 3);
    writeFileSync(file, policies("two"));
    process.kill(server.pid, "SIGHUP");
    await until("the word", () => server.log().includes("no process is serving that could reload"));
    await until("the replacements", () => server.log().split("serving policies").length === 5);
    await until("the new policies", async () => (await message(server)) === "two");
    const metrics = await (await fetch(`${server.probes}/metrics`)).text();
    assert.doesNotMatch(metrics, /reloads_total\{result="rejected"\}/);
    assert.equal(await server.stop(), 0);
  });

  test("what is wrong with policies is said once for all processes, and again when it stays after a change", async (t) => {
    const file = path.join(folder, "wrong.yaml");
    const wrong = `${policies("one")}q: {module: ./missing.wasm}\n`;
    writeFileSync(file, wrong);
    const server = await start(t, "--policies", file, "--workers", "3");
    const words = "wrong.yaml:6:13: q.module: Error while downloading policy 'q'";
    const said = () => server.log().split(words).length - 1;
    await Promise.all([server.said(words), bothServing(server)]);
    assert.equal(said(), 1, server.log());
    for (const round of [2, 3]) {
      writeFileSync(file, `${wrong}# ${round}\n`);
      await until(`report ${round}`, () => said() >= round && server.log().split("reloaded policies").length > round);
    }
    assert.equal(said(), 3, server.log());
    await server.stop();
  });

  test("fetches modules once for all processes", async (t) => {
    const registry = await TestRegistry.start(t);
    const module = readFileSync(new URL("../../../test/fixtures/trivial/wapc.wasm", import.meta.url));
    registry.pushModule("team/p", "v1", module);
    registry.pushModule("team/p", "latest", module);
    const file = path.join(folder, "fetched.yaml");
    const sources = path.join(folder, "sources.yml");
    writeFileSync(sources, `insecure_sources: ["${registry.host}"]\n`);
    const members = `{ m: { module: "registry://${registry.host}/team/p" } }`;
    writeFileSync(
      file,
      `p: { module: "registry://${registry.host}/team/p:v1" }\ng: { expression: m(), message: 'no', policies: ${members} }\n`,
    );
    const blobs = () => registry.requests.filter((request) => request.includes("/blobs/")).length;
    const downloads = path.join(folder, "downloads");
    const options = ["--policies", file, "--sources-path", sources, "--policies-download-dir", downloads];
    const server = await start(t, ...options, "--workers", "3");
    assert.equal(blobs(), 2, registry.requests.join("\n"));
    await server.said(/policies=2 unavailable=0/);
    // The tag moves: the reload fetches what is new, once.
    registry.pushModule("team/p", "latest", Buffer.concat([module, Buffer.from([0, 2, 1, 97])]));
    process.kill(server.pid, "SIGHUP");
    await until("the reload", () => server.log().split("reloaded policies").length > 3);
    assert.equal(blobs(), 3, registry.requests.join("\n"));
    await server.stop();
  });

  test("what keeps one from serving keeps all, and is said", async () => {
    const file = path.join(folder, "broken.yaml");
    writeFileSync(file, "p: [");
    await assert.rejects(
      startExample("--policies", file, "--workers", "2"),
      /Error: error while loading policies from/,
    );
  });
});

describe("serve over TLS", () => {
  test("certificates are named by options", async (t) => {
    const tls = tlsFolder();
    const file = path.join(folder, "tls.yaml");
    writeFileSync(file, policies("no"));
    const server = await start(
      t,
      "--policies",
      file,
      "--workers",
      "1",
      "--cert-file",
      tls.certFile,
      "--key-file",
      tls.keyFile,
    );
    const answer = await ask(Number(new URL(server.url).port), tls, "/validate/p", GOOD);
    assert.equal(answer.status, 200);
    assert.match(
      await (await fetch(`${server.probes}/metrics`)).text(),
      /^policy_server_certificate_expiry_timestamp_seconds \d{10}/m,
    );
    assert.equal(await server.stop(), 0);
  });

  test("half a pair, and client authorities without one, are refused in the reference's words (spec kubewarden.md 2)", async () => {
    const refusal = async (...args: string[]): Promise<string> => {
      const stderr = new PassThrough();
      const io = { env: {}, stdin: process.stdin, stdout: process.stdout, stderr };
      assert.equal(await runCommandLine(["serve", ...args], io), 2);
      return written(stderr);
    };
    assert.match(await refusal("--cert-file", "x"), /both certificate and key must be provided together/);
    assert.match(
      await refusal("--client-ca-file", "x"),
      /client CA certificate requires server certificate and key to be specified/,
    );
    assert.match(await refusal("--addr", "localhost"), /error parsing arguments: .*'localhost' is not an IP address/);
  });
});

describe("serve in the background", () => {
  test("--daemon leaves a server behind, with its number and its log in files", async () => {
    const file = path.join(folder, "daemon.yaml");
    writeFileSync(file, policies("no"));
    const [pidFile, log] = [path.join(folder, "pid"), path.join(folder, "log")];
    const [port, readiness] = [await freePort(), await freePort()];
    const main = fileURLToPath(new URL("../../server/main.js", import.meta.url));
    const args = ["--policies", file, "--workers", "1", "--addr", "127.0.0.1", "--port", `${port}`];
    const daemon = ["--daemon", "--daemon-pid-file", pidFile, "--daemon-stdout-file", log];
    const started = [main, ...args, ...daemon, "--readiness-probe-port", `${readiness}`];
    const { status, stderr } = spawnSync(process.execPath, started, { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const ready = () =>
      fetch(`http://127.0.0.1:${readiness}/readiness`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until("readiness", ready, () => readFileSync(log, "utf8"));
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGTERM");
    await until("the end", async () => !(await ready()) && readFileSync(log, "utf8").includes("stopped"));
  });
});

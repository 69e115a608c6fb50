/**
 * WASM policies over HTTP as a pod with one core serves them: 16 connections, a Pod of some KiB; server and client each on a core of their own where
 * the system can pin them. Beside it what a policy that loops costs the requests of another one, in rounds that alternate with and without it.
 *
 * | figure | goal |
 * | --- | --- |
 * | requests/s against those that Kubewarden's policy-server was measured at on one core (trivial 1,370, Rust 1,110, group of four 507) | 3 times |
 * | p99 against its 14.9 ms | lower |
 * | p99 beside a policy that loops / alone | at most 1.1 |
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median, spread } from "./support/statistics.js";

const ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 16;
const BESIDE_CONNECTIONS = 8;
const PORT = 48_091;
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bench-guests-"));
const body = join(folder, "review.json");
const trivial = `{ module: ${join(root, "test/fixtures/trivial/wapc.wasm")}, executionMode: kubewarden-wapc }`;

const POLICIES = `
wapc: ${trivial}
rust: { module: ${join(root, "test/vectors/kubewarden/wasm/chaos-wapc.wasm")}, executionMode: kubewarden-wapc }
wasi: { module: ${join(root, "test/vectors/kubewarden/wasm/chaos-wasi.wasm")}, executionMode: wasi }
extism: { module: ${join(root, "test/fixtures/trivial/extism.wasm")} }
example: { module: ${join(root, "policies/privileged-pods/policy.wasm")} }
group:
  expression: a() && b() && c() && d()
  message: "no"
  policies: { a: ${trivial}, b: ${trivial}, c: ${trivial}, d: ${trivial} }
runaway:
  module: ${join(root, "test/fixtures/chaos/wapc.wasm")}
  executionMode: kubewarden-wapc
  settings: { mode: loop }
`;
/** Requests/s of the reference on one core, where they were measured. */
const REFERENCE: Readonly<Record<string, number>> = { wapc: 1_370, rust: 1_110, group: 507 };

interface Load {
  readonly perSecond: number;
  readonly p99: number;
}

/** A Pod with as many containers as make a review of about 5 KB. */
function writeReview(): void {
  const review = JSON.parse(readFileSync(join(root, "test/fixtures/reviews/pod.json"), "utf8"));
  const { spec } = review.request.object;
  const [container] = spec.containers;
  spec.containers = Array.from({ length: 96 }, (_, index) => ({ ...container, name: `${container.name}-${index}` }));
  writeFileSync(body, JSON.stringify(review));
}

const pinned = ((): boolean => {
  try {
    execFileSync("taskset", ["-c", "1", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

function start(core: number, args: readonly string[], stdio: "ignore" | "pipe"): ChildProcess {
  const [command, ...rest] = [...(pinned ? ["taskset", "-c", `${core}`] : []), process.execPath, ...args];
  return spawn(command ?? process.execPath, rest, { stdio: ["ignore", stdio, "inherit"] });
}

async function load(policy: string, connections: number, seconds: number): Promise<Load> {
  const client = join(root, "dist/bench/support/load-client.js");
  const child = start(1, [client, `${PORT}`, `/validate/${policy}`, body, `${connections}`, `${seconds}`], "pipe");
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return JSON.parse(text) as Load;
}

async function ready(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`http://127.0.0.1:${PORT + 1}/readiness`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(50);
  }
  throw new Error("the server did not start");
}

writeReview();
const policies = join(folder, "policies.yaml");
writeFileSync(policies, POLICIES);
const ports = ["--port", `${PORT}`, "--readiness-probe-port", `${PORT + 1}`];
const server = start(
  0,
  [join(root, "dist/server/main.js"), "--policies", policies, "--addr", "127.0.0.1", ...ports, "--workers", "1"],
  "ignore",
);
try {
  await ready();
  console.log(`requests/s and p99 at ${CONNECTIONS} connections${pinned ? ", server on one core" : ""}`);
  for (const policy of ["wapc", "rust", "wasi", "extism", "example", "group"]) {
    await load(policy, CONNECTIONS, SECONDS);
    const rounds: Load[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await load(policy, CONNECTIONS, SECONDS));
    const perSecond = rounds.map((each) => each.perSecond);
    const reference = REFERENCE[policy];
    const ratio = reference === undefined ? "" : `   ${(median(perSecond) / reference).toFixed(1)} times the reference`;
    const p99 = rounds.map((each) => each.p99);
    console.log(`${policy.padEnd(8)} ${spread(perSecond, 0)}/s   p99 ${spread(p99)} ms${ratio}`);
  }
  for (const loops of [1, 4]) {
    const [alone, beside]: [number[], number[]] = [[], []];
    // The first loops make the policy a suspect.
    await load("runaway", loops, 2 * SECONDS + 1);
    for (let round = 0; round < ROUNDS; round++) {
      alone.push((await load("rust", BESIDE_CONNECTIONS, 2 * SECONDS)).p99);
      const looping = load("runaway", loops, 2 * SECONDS + 1);
      // The start of the other client is not what is measured.
      await sleep(500);
      beside.push((await load("rust", BESIDE_CONNECTIONS, 2 * SECONDS)).p99);
      await looping;
    }
    const ratio = (median(beside) / median(alone)).toFixed(2);
    console.log(
      `p99 of the Rust policy at ${BESIDE_CONNECTIONS} connections: alone ${spread(alone)} ms, ` +
        `beside ${loops} looping ${spread(beside)} ms, ratio ${ratio}`,
    );
  }
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

/**
 * What a pod takes that lists a large kind: 20,000 ConfigMaps of 4 KB (or as many as the first argument says), asked for by guests in every process, then by four
 * guests at once, while another policy is asked every few milliseconds. `node dist/bench/stores.js [objects] [workers] [main.js]`
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeApiServer } from "../test/kubernetes/client/fake-api-server.js";
import { bytesOf } from "../test/wasm/wat.js";

const OBJECTS = Number(process.argv[2] ?? 20_000);
const WORKERS = Number(process.argv[3] ?? 4);
const MAIN = process.argv[4] ?? "dist/server/main.js";
const BYTES = 4_000;
const [PORT, PROBES] = [28_443, 28_444];
/** Whoever has no answer by then gets none. */
const ANSWER_MS = 60_000;
/** Threads end after ten seconds without a call, and the collector comes when nothing else is to be done. */
const SETTLES_MS = 25_000;
/** Connections that ask meanwhile, for each process. */
const ASKING = 2;

/** A waPC guest that lists all ConfigMaps, takes the answer into its memory, and accepts; refused, it rejects with the host's words. */
const LISTING = `(module
  (import "wapc" "__guest_request" (func $request (param i32 i32)))
  (import "wapc" "__guest_response" (func $response (param i32 i32)))
  (import "wapc" "__host_call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wapc" "__host_response_len" (func $length (result i32)))
  (import "wapc" "__host_response" (func $take (param i32)))
  (import "wapc" "__host_error_len" (func $error_length (result i32)))
  (import "wapc" "__host_error" (func $take_error (param i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "{\\22accepted\\22:true,\\22valid\\22:true}")
  (data (i32.const 100) "kubewardenkuberneteslist_resources_all")
  (data (i32.const 200) "{\\22api_version\\22:\\22v1\\22,\\22kind\\22:\\22ConfigMap\\22}")
  (data (i32.const 300) "{\\22accepted\\22:false,\\22message\\22:\\22")
  (func (export "__guest_call") (param $operation i32) (param $payload i32) (result i32)
    (if (i32.eq (local.get $operation) (i32.const 8)) (then
      (if (call $call (i32.const 100) (i32.const 10) (i32.const 110) (i32.const 10) (i32.const 120) (i32.const 18) (i32.const 200) (i32.const 39))
        (then
          (drop (memory.grow (i32.add (i32.shr_u (call $length) (i32.const 16)) (i32.const 1))))
          (call $take (i32.const 131072)))
        (else
          (call $take_error (i32.const 330))
          (i32.store16 (i32.add (i32.const 330) (call $error_length)) (i32.const 0x7d22))
          (call $response (i32.const 300) (i32.add (call $error_length) (i32.const 32)))
          (return (i32.const 1))))))
    (call $response (i32.const 0) (i32.const 30))
    (i32.const 1)))`;

/** MiB of a server's processes: resident, and with what they share counted once. */
function memory(pid: number): { resident: number; proportional: number; each: number[] } {
  const sums = { resident: 0, proportional: 0, each: [] as number[] };
  for (const each of [pid, ...children(pid)]) {
    try {
      const rollup = readFileSync(`/proc/${each}/smaps_rollup`, "utf8");
      sums.resident += Number(/^Rss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
      const own = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
      sums.proportional += own;
      sums.each.push(Math.round(own));
    } catch {
      // It has just ended.
    }
  }
  return { ...sums, resident: Math.round(sums.resident), proportional: Math.round(sums.proportional) };
}

function children(pid: number): number[] {
  const own: number[] = [];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    own.push(...readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number));
  }
  return own;
}

/** In words, from milliseconds. */
function slowest(waits: readonly number[]): string {
  const [last = 0, ...others] = [...waits].sort((a, b) => b - a);
  const hundredth = others[Math.floor(waits.length / 100)] ?? last;
  return `the slowest ${Math.round(last)} ms, one in a hundred longer than ${Math.round(hundredth)} ms`;
}

const told = ({ resident, proportional, each }: ReturnType<typeof memory>): string =>
  `${proportional} MiB (${resident} MiB resident${each.length > 1 ? `, ${each.join(" + ")}` : ""})`;

function ask(path: string, agent: Agent): Promise<{ readonly ms: number; readonly text: string }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const sent = request({ port: PORT, path, method: "POST", agent, headers, timeout: ANSWER_MS });
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += String(chunk);
      });
      response.on("end", () => resolve({ ms: performance.now() - began, text }));
    });
    sent.on("timeout", () => sent.destroy(new Error(`${path} was not answered in ${ANSWER_MS} ms`)));
    sent.on("error", reject);
    sent.end('{"request":{"uid":"1"}}');
  });
}

/** The process that has accepted a connection from this port. */
function accepter(port: number, processes: readonly number[]): number | undefined {
  const hex = (number: number): string => number.toString(16).toUpperCase().padStart(4, "0");
  const sockets = `${readFileSync("/proc/net/tcp", "utf8")}\n${readFileSync("/proc/net/tcp6", "utf8")}`.split("\n");
  const own = sockets.map((line) => line.trim().split(/\s+/));
  const found = own.find(
    ([, local = "", remote = ""]) => local.endsWith(`:${hex(PORT)}`) && remote.endsWith(`:${hex(port)}`),
  );
  const name = `socket:[${found?.[9]}]`;
  return processes.find((pid) =>
    readdirSync(`/proc/${pid}/fd`).some((file) => linkOf(`/proc/${pid}/fd/${file}`) === name),
  );
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Connections to each process, which accept as they like. */
async function connections(pid: number, each: number): Promise<Agent[][]> {
  const processes = WORKERS > 1 ? children(pid) : [pid];
  const made = new Map<number, Agent[]>(processes.map((process) => [process, []]));
  for (let tries = 0; [...made.values()].some(({ length }) => length < each); tries++) {
    if (tries > 1_000) throw new Error("a process accepts no connections");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    ends.push(() => agent.destroy());
    await ask("/validate_raw/quick", agent);
    const [socket] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    const agents = made.get(accepter(socket?.localPort ?? 0, processes) ?? 0);
    if (agents === undefined || agents.length === each) agent.destroy();
    else agents.push(agent);
  }
  return [...made.values()];
}

const ends: (() => void)[] = [];
const folder = mkdtempSync(join(tmpdir(), "stores-"));
try {
  const api = await FakeApiServer.start({ after: (end) => ends.push(end) });
  const value = "x".repeat(BYTES);
  for (let i = 0; i < OBJECTS; i++) {
    api.put("configmaps", { metadata: { name: `c${i}`, namespace: `n${i % 100}` }, data: { value } });
  }
  writeFileSync(join(folder, "listing.wasm"), bytesOf(LISTING));
  const guest = `
  module: ${join(folder, "listing.wasm")}
  timeoutEvalSeconds: 30
  hostCapabilities: ["kubernetes/*"]
  contextAwareResources: [{ apiVersion: v1, kind: ConfigMap }]`;
  const guests = [1, 2, 3, 4].map((i) => `list${i}:${guest}`).join("\n");
  const quick = 'quick:\n  cel:\n    validations: [{ expression: "true" }]\n';
  writeFileSync(join(folder, "policies.yaml"), `${guests}\n${quick}`);
  const server = spawn(
    process.execPath,
    [
      ...["--max-semi-space-size=8", MAIN, "--policies", join(folder, "policies.yaml")],
      ...["--kubeconfig", api.kubeconfig(), "--workers", String(WORKERS), "--log-level", "warn"],
      ...["--addr", "127.0.0.1", "--port", String(PORT), "--readiness-probe-port", String(PROBES)],
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  ends.push(() => server.kill());
  const pid = server.pid ?? 0;
  let ended = false;
  server.on("exit", () => {
    ended = true;
  });
  const first = new Agent();
  while (!(await ask("/validate_raw/quick", first).catch(() => undefined))) {
    if (ended) throw new Error("the server has ended");
    await sleep(100);
  }
  await sleep(1_000);
  console.log(`${OBJECTS} objects, ${WORKERS} processes; at rest ${told(memory(pid))}`);
  let most = { resident: 0, proportional: 0, each: [] as number[] };
  const watch = setInterval(() => {
    const now = memory(pid);
    if (now.proportional > most.proportional) most = now;
  }, 200);
  const timesOf = (answers: readonly { ms: number; text: string }[]): string =>
    answers
      .map(({ ms, text }) => `${Math.round(ms)}${text.includes('"allowed":true') ? "" : `! ${text.slice(0, 300)}`}`)
      .join(", ");
  // One after the other, so that each process has asked.
  const lists: { ms: number; text: string }[] = [];
  for (const [agent] of await connections(pid, 1)) if (agent) lists.push(await ask("/validate_raw/list1", agent));
  console.log(`first lists, a process after the other: ${timesOf(lists)} ms, at most ${told(most)}`);
  console.log(`${api.asked("GET /api/v1/configmaps?limit").length} pages were listed`);
  await sleep(SETTLES_MS);
  console.log(`held by all ${told(memory(pid))}`);
  most = { resident: 0, proportional: 0, each: [] };
  let [asked, done] = [0, false];
  const waits: number[] = [];
  const agents = await connections(pid, 1 + ASKING);
  const steady = Promise.all(
    agents.flatMap((own) =>
      own.slice(1).map(async (agent) => {
        while (!done) {
          const { ms } = await ask("/validate_raw/quick", agent);
          waits.push(ms);
          asked++;
          await sleep(5);
        }
      }),
    ),
  );
  await sleep(2_000);
  const quiet = slowest(waits.splice(0));
  const listing = [1, 2, 3, 4].map((i) => ask(`/validate_raw/list${i}`, agents[i % agents.length]?.[0] ?? first));
  const answers = await Promise.all(listing);
  done = true;
  await steady;
  clearInterval(watch);
  console.log(`four guests at once: ${timesOf(answers)} ms, at most ${told(most)}`);
  console.log(`others meanwhile: ${asked} requests, ${slowest(waits)}; before: ${quiet}`);
} finally {
  for (const end of ends.reverse()) end();
  rmSync(folder, { recursive: true, force: true });
}

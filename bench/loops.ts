/**
 * What eight policies that loop cost the requests of others, over HTTP: rounds alternate between honest traffic alone and the same traffic while
 * eight policies are asked at once that have never been asked before, and loop until their time is up. `again`: the same eight a second time. `first`: a
 * policy's first request beside them.
 *
 * `node loops.js [processes] [requests/s] [groups]`; by default one process, 100 requests/s, and loops in guests of three protocols; with
 * `groups` in members of groups.
 *
 * | figure | goal |
 * | --- | --- |
 * | p99 beside eight loops / alone | at most 2 |
 * | denials of honest requests | none |
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startExample } from "../test/support/example-server.js";
import { residentBytes } from "./support/soak.js";
import { median, spread } from "./support/statistics.js";
import type { Sample } from "./support/steady-client.js";

const PROCESSES = Number(process.argv[2] ?? 1);
const PER_SECOND = Number(process.argv[3] ?? 100);
const KIND = process.argv[4] ?? "modules";
const ROUNDS = 3;
const LOOPS = 8;
/** Seconds of each part of a round: as long as the loops' time, and a little longer. */
const PART_SECONDS = 2.5;
const WARM_SECONDS = 3;
const MIB = 1024 * 1024;
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bench-loops-"));

const chaos = (protocol: string): string => `{ module: ${join(root, `test/fixtures/chaos/${protocol}.wasm`)} }`;
const PROTOCOLS = ["extism", "wapc", "wasi"] as const;
const protocolOf = (index: number): string => PROTOCOLS[index % PROTOCOLS.length] ?? "wapc";
const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
const loops = Array.from({ length: LOOPS }, (_, index) => index);

/** A policy of the kind that this run has loop. */
function looping(round: number, index: number): string {
  const name = `loop-${round}-${index}`;
  if (KIND !== "groups") return `${name}: ${chaos(protocolOf(index))}`;
  return `${name}: { expression: "!m()", message: "no", policies: { m: ${chaos(protocolOf(index))} } }`;
}

const policies = [
  ...rounds.flatMap((round) => loops.map((index) => looping(round, index))),
  ...rounds.map((round) => `cold-${round}: ${chaos("extism")}`),
  ...PROTOCOLS.map((protocol) => `good-${protocol}: ${chaos(protocol)}`),
  `good-pods: { module: ${join(root, "policies/privileged-pods/policy.wasm")} }`,
  `good-registries: { module: ${join(root, "policies/trusted-registries/policy.wasm")}, settings: { registries: [docker.io] } }`,
];
const accept = JSON.stringify({ request: { mode: "accept" } });
const pod = readFileSync(join(root, "test/fixtures/reviews/pod.json"), "utf8");
const honest = [
  ...PROTOCOLS.map((protocol) => ({ path: `/validate_raw/good-${protocol}`, body: accept })),
  { path: "/validate/good-pods", body: pod },
];

interface Part {
  readonly from: number;
  readonly to: number;
}

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly denied: number;
}

function figures(samples: readonly Sample[], { from, to }: Part): Figures {
  const own = samples.filter(([due]) => due >= from && due < to);
  const sorted = own.map(([, latency]) => latency).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1), denied: own.filter(([, , allowed]) => !allowed).length };
}

/** Milliseconds to the answer, and the answer. */
async function ask(url: string, policy: string, mode: string): Promise<readonly [number, string]> {
  const started = performance.now();
  const response = await fetch(`${url}/validate_raw/${policy}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ request: { mode } }),
  });
  const text = await response.text();
  return [performance.now() - started, text];
}

function traffic(port: string, seconds: number): Promise<Sample[]> {
  const file = join(folder, "honest.json");
  writeFileSync(file, JSON.stringify(honest));
  const client = fileURLToPath(new URL("support/steady-client.js", import.meta.url));
  const child = spawn(process.execPath, [client, port, `${PER_SECOND}`, `${seconds}`, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve) => child.on("exit", () => resolve(JSON.parse(text) as Sample[])));
}

/** Runs for the time of one part. */
async function part(run: () => Promise<void>): Promise<Part> {
  const from = performance.timeOrigin + performance.now();
  const [, to] = await Promise.all([
    run(),
    sleep(PART_SECONDS * 1000).then(() => performance.timeOrigin + performance.now()),
  ]);
  return { from, to };
}

const file = join(folder, "policies.yaml");
writeFileSync(file, policies.join("\n"));
const server = await startExample("--policies", file, "--workers", `${PROCESSES}`, "--log-level", "error");
try {
  const seconds = WARM_SECONDS + ROUNDS * PART_SECONDS * 3 + 3;
  const answered = traffic(new URL(server.url).port, seconds);
  await sleep(WARM_SECONDS * 1000);
  const before = await residentBytes(server.pid);
  const parts: { alone: Part; beside: Part; again: Part }[] = [];
  const cold: number[] = [];
  let [wrong, timed, waited] = [0, 0, 0];
  for (const round of rounds) {
    const loopAll = async (): Promise<void> => {
      const looped = loops.map((index) => ask(server.url, `loop-${round}-${index}`, "loop"));
      for (const answer of looped)
        void answer.then(([, text]) => {
          if (!text.includes('"allowed":false')) wrong++;
          if (text.includes("exceeded the allowed execution time")) timed++;
          else waited++;
        });
      await Promise.all(looped);
    };
    const alone = await part(async () => {});
    const beside = await part(async () => {
      const looped = loopAll();
      await sleep(300);
      const [milliseconds, text] = await ask(server.url, `cold-${round}`, "accept");
      cold.push(milliseconds);
      if (!text.includes('"allowed":true')) wrong++;
      await looped;
    });
    const again = await part(loopAll);
    parts.push({ alone, beside, again });
  }
  await sleep(1_000);
  const after = await residentBytes(server.pid);
  const samples = await answered;
  for (const name of ["alone", "beside", "again"] as const) {
    const all = parts.map((measured) => figures(samples, measured[name]));
    const of = (field: keyof Figures): number[] => all.map((each) => each[field]);
    console.log(
      `${name.padEnd(7)} p50 ${spread(of("p50"))}  p99 ${spread(of("p99"))}  max ${spread(of("max"), 0)} ms  denied ${of("denied").join(" ")}`,
    );
  }
  const ratio = (name: "beside" | "again"): number =>
    median(parts.map((each) => figures(samples, each[name]).p99 / figures(samples, each.alone).p99));
  console.log(
    `p99 beside/alone ${ratio("beside").toFixed(2)}, again/alone ${ratio("again").toFixed(2)} (median of rounds)`,
  );
  console.log(`first request of a policy beside eight loops ${spread(cold, 0)} ms`);
  console.log(`loops: ${timed} timed out, ${waited} otherwise, ${wrong} wrong answers`);
  console.log(`memory ${Math.round(before / MIB)} MiB before, ${Math.round(after / MIB)} MiB after`);
  process.exitCode = wrong > 0 ? 1 : 0;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

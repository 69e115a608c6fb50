/**
 * What a policy costs over HTTP, as ratios measured side by side: rounds alternate between the two sides of each ratio, so that a slow moment of the
 * machine strikes both. Each ratio is given twice: of requests a second, and of requests a second of CPU time, which tells more on a machine that has
 * other work to do (Linux only: the servers' time is read from procfs, in hundredths of seconds).
 *
 * | ratio | goal |
 * | --- | --- |
 * | a CEL policy / bare node:http that parses the same body | at least 0.85 |
 * | a group of one / the single policy | at least 0.97 |
 * | a WASM policy over HTTP / the same guest called bare | see bench/wasm |
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median, spread } from "./support/statistics.js";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = 16;
const root = fileURLToPath(new URL("../..", import.meta.url));
const body = process.env.BODY ?? join(root, "test/fixtures/reviews/pod.json");

const POLICIES = `
cel:
  cel:
    validations:
      - expression: "object.spec.containers.all(c, !has(c.securityContext) || !c.securityContext.?privileged.orValue(false))"
      - expression: "!object.spec.?hostNetwork.orValue(false)"
group:
  expression: "cel()"
  message: "no"
  policies:
    cel: { policy: cel }
wasm:
  module: ${join(root, "policies/privileged-pods/policy.wasm")}
`;

interface Load {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function load(port: number, path: string): Promise<Load> {
  const client = fileURLToPath(new URL("support/load-client.js", import.meta.url));
  const args = [client, `${port}`, path, body, `${CONNECTIONS}`, `${SECONDS}`];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout) => (error ? reject(error) : resolve(JSON.parse(stdout) as Load)));
  });
}

/** One side of a ratio. */
interface Side {
  readonly server: ChildProcess;
  readonly port: number;
  readonly path: string;
}

/** A round of load on one side. */
interface Round extends Load {
  /** Of CPU time that the server takes for a request; NaN where it can't be had. */
  readonly microseconds: number;
}

/** Linux counts processor time in units of this. */
const TICK_MICROSECONDS = 10_000;

/** CPU time that a process has taken. */
function cpuMicroseconds({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
  } catch {
    return Number.NaN;
  }
}

async function round({ server, port, path }: Side): Promise<Round> {
  const before = cpuMicroseconds(server);
  const loaded = await load(port, path);
  return { ...loaded, microseconds: (cpuMicroseconds(server) - before) / loaded.requests };
}

/** Runs both sides in turn and prints throughput, latency and the ratio of each round. */
async function compare(name: string, left: Side, right: Side): Promise<void> {
  const lefts: Round[] = [];
  const rights: Round[] = [];
  await round(left);
  await round(right);
  for (let count = 0; count < ROUNDS; count++) {
    lefts.push(await round(left));
    rights.push(await round(right));
  }
  const ratios = (of: (left: Round, right: Round) => number) =>
    spread(lefts.map((each, index) => of(each, rights[index] as Round)));
  const rate = (rounds: readonly Round[]) => Math.round(median(rounds.map(({ perSecond }) => perSecond)));
  const cpu = (rounds: readonly Round[]) => median(rounds.map(({ microseconds }) => microseconds)).toFixed(1);
  const throughput = ratios((l, r) => l.perSecond / r.perSecond);
  console.log(`${name}: ${throughput} of the throughput; ${rate(lefts)} against ${rate(rights)} requests/s`);
  console.log(`  by CPU ${ratios((l, r) => r.microseconds / l.microseconds)}; ${cpu(lefts)} against ${cpu(rights)} µs`);
  console.log(`  p99 ${spread(lefts.map(({ p99 }) => p99))} against ${spread(rights.map(({ p99 }) => p99))} ms`);
}

const folder = mkdtempSync(join(tmpdir(), "bench-http-"));
const processes: ChildProcess[] = [];
try {
  const policies = join(folder, "policies.yaml");
  writeFileSync(policies, POLICIES);
  const [ours, probes, bare] = [14_300, 14_301, 14_302];
  // One process against one process.
  const flags = ["--addr", "127.0.0.1", "--port", `${ours}`, "--readiness-probe-port", `${probes}`, "--workers", "1"];
  const main = join(root, "dist/server/main.js");
  const server = spawn(process.execPath, [main, "--policies", policies, "--log-level", "warn", ...flags], {
    stdio: "inherit",
  });
  const floor = spawn(process.execPath, [fileURLToPath(new URL("support/bare-server.js", import.meta.url)), `${bare}`]);
  processes.push(server, floor);
  for (let attempt = 0; attempt < 100; attempt++) {
    if (
      await fetch(`http://127.0.0.1:${probes}/readiness`)
        .then((r) => r.ok)
        .catch(() => false)
    )
      break;
    await sleep(100);
  }
  console.log(`${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections: median (min … max)`);
  const side = (name: string): Side => ({ server, port: ours, path: `/validate/${name}` });
  await compare("a CEL policy / bare node:http", side("cel"), { server: floor, port: bare, path: "/" });
  await compare("a group of one / the single policy", side("group"), side("cel"));
  await compare("a WASM policy / the CEL policy", side("wasm"), side("cel"));
} finally {
  for (const child of processes) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

/**
 * What a policy costs over HTTP, as ratios measured side by side: a client asks both sides of a ratio in turns of a quarter of a second, so that a slow moment of the
 * machine strikes both, and one pair of turns tells nothing: their median does, with the quartiles. Each ratio is given twice: of requests a second, and of all requests a second of
 * processor time, which tells more on a machine that has other work to do (Linux only: the servers' time is read from procfs, in hundredths of seconds).
 *
 * With two bodies: one of 1 KB, which is hardly more than what every request costs, and a Pod of 6 KB with its `managedFields`, as an API server sends it.
 * `BODY=FILE` takes that one instead.
 *
 * | ratio | goal |
 * | --- | --- |
 * | a CEL policy / bare node:http that parses the same body | at least 0.85 |
 * | a group of one / the single policy | at least 0.97 |
 * | a WASM policy over HTTP / the same guest called bare | see bench/wasm |
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Rounds, TargetRound } from "./support/alternating-client.js";
import { podReview } from "./support/guest-modules.js";
import { median, quartiles } from "./support/statistics.js";

const PAIRS = Number(process.env.PAIRS ?? 100);
/** Before the first that counts: the engine compiles what it has come to know. */
const WARMING_PAIRS = 16;
const TURN_MS = 250;
const CONNECTIONS = 16;
const root = fileURLToPath(new URL("../..", import.meta.url));

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

/** One side of a ratio. */
interface Side {
  readonly server: ChildProcess;
  readonly port: number;
  readonly path: string;
}

function inTurns(left: Side, right: Side, body: string, pairs: number): Promise<Rounds> {
  const client = fileURLToPath(new URL("support/alternating-client.js", import.meta.url));
  const targets = [left, right].map(({ server, port, path }) => `${port}${path}@${server.pid}`);
  const args = [client, body, `${CONNECTIONS}`, `${pairs}`, "1", `${TURN_MS}`, ...targets];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout) as Rounds),
    );
  });
}

/** Linux counts processor time in units of this. */
const TICK_MICROSECONDS = 10_000;

/** Microseconds of processor time for a request. */
function microseconds(turns: readonly TargetRound[]): number {
  const sum = (of: (turn: TargetRound) => number): number => turns.reduce((all, turn) => all + of(turn), 0);
  return (TICK_MICROSECONDS * sum(({ ticks }) => ticks ?? Number.NaN)) / sum(({ requests }) => requests);
}

/** Runs both sides in turns and prints the ratios. */
async function compare(name: string, left: Side, right: Side, body: string): Promise<void> {
  await inTurns(left, right, body, WARMING_PAIRS);
  const pairs = await inTurns(left, right, body, PAIRS);
  const [lefts, rights] = [pairs.flatMap(([turn]) => turn ?? []), pairs.flatMap(([, turn]) => turn ?? [])];
  const throughput = quartiles(lefts.map(({ perSecond }, pair) => perSecond / (rights[pair]?.perSecond ?? Number.NaN)));
  const rate = (turns: readonly TargetRound[]) => Math.round(median(turns.map(({ perSecond }) => perSecond)));
  const [ours, others] = [microseconds(lefts), microseconds(rights)];
  console.log(`${name}: ${throughput} of the throughput; ${rate(lefts)} against ${rate(rights)} requests/s`);
  console.log(`  by CPU ${(others / ours).toFixed(2)}; ${ours.toFixed(1)} against ${others.toFixed(1)} µs`);
}

/** The files whose contents are sent. */
function bodiesIn(folder: string): readonly string[] {
  if (process.env.BODY !== undefined) return [process.env.BODY];
  const large = join(folder, "review.json");
  writeFileSync(large, podReview());
  return [join(root, "test/fixtures/reviews/pod.json"), large];
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
  console.log(`${PAIRS} pairs of turns of ${TURN_MS} ms, ${CONNECTIONS} connections: median (quartiles)`);
  const side = (name: string): Side => ({ server, port: ours, path: `/validate/${name}` });
  for (const body of bodiesIn(folder)) {
    console.log(`a body of ${statSync(body).size} bytes`);
    await compare("a CEL policy / bare node:http", side("cel"), { server: floor, port: bare, path: "/" }, body);
    await compare("a group of one / the single policy", side("group"), side("cel"), body);
    await compare("a WASM policy / the CEL policy", side("wasm"), side("cel"), body);
  }
} finally {
  for (const child of processes) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

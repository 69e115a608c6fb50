/**
 * What a policy costs over HTTP, as ratios of throughput measured side by side: rounds alternate between the two sides of each ratio, so that
 * a slow moment of the machine strikes both.
 *
 * | ratio | goal |
 * | --- | --- |
 * | a CEL policy / bare node:http that parses the same body | near 1 |
 * | a group of one / the single policy | near 1 |
 * | a WASM policy over HTTP / the same guest called bare | see bench/wasm |
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median, spread } from "./support/statistics.js";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 16;
const root = fileURLToPath(new URL("../..", import.meta.url));
const body = join(root, "test/fixtures/reviews/pod.json");

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

/** Runs both sides in turn and prints throughput, latency and the ratio of each round. */
async function compare(name: string, left: readonly [number, string], right: readonly [number, string]): Promise<void> {
  const ratios: number[] = [];
  const lefts: Load[] = [];
  const rights: Load[] = [];
  await load(...left);
  await load(...right);
  for (let round = 0; round < ROUNDS; round++) {
    const l = await load(...left);
    const r = await load(...right);
    lefts.push(l);
    rights.push(r);
    ratios.push(l.perSecond / r.perSecond);
  }
  const rate = (loads: readonly Load[]) => Math.round(median(loads.map(({ perSecond }) => perSecond)));
  console.log(`${name}: ${spread(ratios)} of the throughput; ${rate(lefts)} against ${rate(rights)} requests/s`);
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
  processes.push(
    spawn(process.execPath, [main, "--policies", policies, "--log-level", "warn", ...flags], { stdio: "inherit" }),
  );
  processes.push(
    spawn(process.execPath, [fileURLToPath(new URL("support/bare-server.js", import.meta.url)), `${bare}`]),
  );
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
  await compare("a CEL policy / bare node:http", [ours, "/validate/cel"], [bare, "/"]);
  await compare("a group of one / the single policy", [ours, "/validate/group"], [ours, "/validate/cel"]);
  await compare("a WASM policy / the CEL policy", [ours, "/validate/wasm"], [ours, "/validate/cel"]);
} finally {
  for (const child of processes) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

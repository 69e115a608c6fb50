/**
 * Scale of `serve --from-cluster`: a real API server (test/e2e) with as many policies and objects as the arguments say (`npm run bench-live -- 1000 100000`), and one
 * replica with two processes. `--write` puts the table into docs/cluster.md.
 *
 * | figure | goal |
 * | --- | --- |
 * | memory of a replica, all its processes | at most 512 MiB |
 * | from a changed policy to its being in force | at most 2 s |
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "../../test/e2e/cluster.js";
import { Api } from "../../test/e2e/live/api.js";
import { serveCelModule } from "../../test/e2e/live/policies.js";
import { type Replica, ROOT, Stage } from "../../test/e2e/live/stage.js";
import { spread } from "../support/statistics.js";
import { makeAll, NAMESPACES, objectsOf, policiesOf, policyOf } from "./objects.js";
import { PodMemory } from "./pod-memory.js";

const GOAL_MIB = 512;
const GOAL_CHANGE_MS = 2_000;
const CHANGES = 10;
const ROUND_WITHIN_MS = 30 * 60_000;
const READY_POLL_MS = 25;

const numbers = process.argv.slice(2).filter((one) => /^\d+$/.test(one));
const [policies = 1_000, objects = 100_000] = numbers.map(Number);
const folder = mkdtempSync(join(tmpdir(), "bench-live-"));
const stopModule = await serveCelModule();
const cluster = await Cluster.start();
const rows: [string, string][] = [];
const row = (what: string, figure: string): void => {
  rows.push([what, figure]);
  console.log(`${what.padEnd(70)} ${figure}`);
};
try {
  const stage = await Stage.set(cluster, folder);
  const api = new Api(cluster.kubeconfig);
  await stage.apply(...NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  let begin = Date.now();
  await makeAll(api, policiesOf(policies));
  console.log(`${policies} policies made in ${seconds(begin)}`);
  begin = Date.now();
  await makeAll(api, objectsOf(objects));
  console.log(`${objects} objects made in ${seconds(begin)}`);

  begin = Date.now();
  const server = await stage.replica("bench", "--workers=2", "--audit-interval=0");
  const memory = new PodMemory(server.pid);
  row(`from its start until a replica is ready, ${policies} policies`, seconds(begin));
  await inForce(api, policies - 1, "two");
  row("until the API server asks about all of them", seconds(begin));
  row("memory of the replica then", memory.now());
  await changes(stage, api);
  row(`memory after ${CHANGES} changes`, memory.now());
  await server.stop();
  memory.stop();

  begin = Date.now();
  const auditing = await stage.replica("audit", "--workers=2", "--audit-interval=86400");
  const during = new PodMemory(auditing.pid);
  await audited(stage, auditing);
  row(`the first audit of ${objects} objects, with the start`, seconds(begin));
  row("most memory of the replica during it", during.most());
  during.stop();
  await auditing.stop();
  console.log(during.mostMib <= GOAL_MIB ? "memory: in the goal" : `memory: MISSED ${GOAL_MIB} MiB`);
  await stage.clear();
  api.close();
} finally {
  await cluster.stop();
  stopModule();
  rmSync(folder, { recursive: true, force: true });
}
if (process.argv.includes("--write")) writeFigures();

/** One policy of a thousand changes, again and again: until a request is decided by it, and until its status says so. */
async function changes(stage: Stage, api: Api): Promise<void> {
  const [decided, said]: [number[], number[]] = [[], []];
  for (let round = 0; round < CHANGES; round++) {
    const index = Math.floor((policies * round) / CHANGES);
    const key = `changed-${round}`;
    const [path, body] = policyOf(index, key);
    const begin = Date.now();
    const { code } = await api.ask({ method: "PATCH", path, type: "application/merge-patch+json", body });
    if (code !== 200) throw new Error(`${path}: ${code}`);
    await inForce(api, index, key);
    decided.push(Date.now() - begin);
    await stage.active("vpol", `policy-${index}`);
    said.push(Date.now() - begin);
  }
  row("from a changed policy to its deciding, ms", spread(decided, 0));
  row("from a changed policy to its status, ms", spread(said, 0));
  if (Math.max(...decided) > GOAL_CHANGE_MS) console.log(`change: MISSED ${GOAL_CHANGE_MS} ms`);
}

/** Waits until a policy denies its key. */
async function inForce(api: Api, index: number, key: string): Promise<void> {
  const namespace = NAMESPACES[index % NAMESPACES.length];
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "probe" }, data: { [`${key}-${index}`]: "x" } };
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  const end = Date.now() + ROUND_WITHIN_MS;
  while ((await api.ask({ method: "POST", path, body })).code === 201) {
    if (Date.now() > end) throw new Error(`policy ${index} never came into force`);
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}

/** Waits until the server says that a round of the audit has ended. */
async function audited(stage: Stage, server: Replica): Promise<void> {
  const ended = () => /audited the cluster's objects objects=[1-9].*complete=true/.test(server.log());
  await stage.until("the audit", ended, ROUND_WITHIN_MS);
}

function seconds(begin: number): string {
  return `${((Date.now() - begin) / 1_000).toFixed(1)} s`;
}

function writeFigures(): void {
  const file = join(ROOT, "docs/cluster.md");
  const table = rows.map(([what, figure]) => `| ${what} | ${figure} |`).join("\n");
  const text = readFileSync(file, "utf8");
  const begin = text.indexOf("<!-- figures -->");
  const end = text.indexOf("<!-- end figures -->");
  writeFileSync(
    file,
    `${text.slice(0, begin)}<!-- figures -->\n| ${policies} policies, ${objects} objects | |\n| --- | --- |\n${table}\n${text.slice(end)}`,
  );
}

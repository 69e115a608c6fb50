/**
 * `policy-server audit` of a cluster of many Pods under twenty policies (`support/pod-rules.ts`), and a second round of what goes on in the pod.
 *
 * Method: the API server is another process, which makes each page when it is asked for. The command is a process of its own; CPU is that of all its
 * threads, memory the peak of the resident set. The floor is the same pages fetched and parsed, and nothing else. AUDIT_PODS says how many Pods there
 * are; default 20,000.
 *
 * | what | goal |
 * | --- | --- |
 * | 100,000 Pods, 20 policies | 120 s of CPU, 512 MiB |
 * | a second round in which nothing has changed | little above the floor |
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { AuditRunner } from "../src/cluster/audit/audit-runner.js";
import { REPORT_APIS } from "../src/cluster/audit/object-report.js";
import { FullPace } from "../src/cluster/audit/pace.js";
import { AuditPolicySource } from "../src/cluster/audit/policy-source.js";
import { loadConfig } from "../src/config/index.js";
import { objectPages } from "../src/kubernetes/client/object-pages.js";
import { createLoader, findCluster } from "../src/loader/index.js";
import { openAccess } from "../src/world/cluster.js";
import { type CommandRun, runCommand } from "./support/command-run.js";
import { kyvernoPolicies } from "./support/pod-rules.js";

const PODS = Number(process.env.AUDIT_PODS ?? "20000");
const LIMIT_MS = 240_000;
const folder = mkdtempSync(join(tmpdir(), "bench-audit-"));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const entries = kyvernoPolicies().map((policy, i) => [`rule-${i}`, { resource: file(`${i}.yaml`, stringify(policy)) }]);
const policies = file("policies.yaml", stringify(Object.fromEntries(entries)));

const cluster: ChildProcess = spawn(
  process.execPath,
  [fileURLToPath(new URL("./support/listed-cluster.js", import.meta.url)), String(PODS)],
  { stdio: ["ignore", "pipe", "inherit", "ipc"] },
);
process.on("exit", () => {
  cluster.kill();
  rmSync(folder, { recursive: true, force: true });
});
const [port] = (await once(cluster.stdout ?? process.stdin, "data")) as [Buffer];
const kubeconfig = file(
  "kubeconfig",
  stringify({
    "current-context": "bench",
    clusters: [{ name: "bench", cluster: { server: `http://127.0.0.1:${port.toString().trim()}` } }],
    users: [{ name: "bench", user: {} }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
  }),
);

const program = [process.execPath, fileURLToPath(new URL("../server/main.js", import.meta.url))];
const audit = [...program, "audit", "--policies", policies, "--kubeconfig", kubeconfig];
const show = (name: string, { seconds, cpuSeconds, peakMebibytes, lastLine }: CommandRun): void => {
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU (${((cpuSeconds * 100_000) / PODS).toFixed(0)} s for 100,000), ${(PODS / seconds).toFixed(0)} objects/s, peak ${peakMebibytes.toFixed(0)} MiB: ${lastLine}`,
  );
};
console.log(`${PODS} Pods, ${entries.length} policies`);
show("audit, junit to nowhere", await runCommand([...audit, "-o", "yaml"], folder, LIMIT_MS));
show("audit --write-reports", await runCommand([...audit, "--write-reports", "-o", "yaml"], folder, LIMIT_MS));

const now = () => performance.now();
const access = findCluster({ env: {}, now, kubeconfig });
const client = openAccess(access, now, () => {});
const read = loadConfig(policies);
if (client === undefined || !read.ok) throw new Error("the cluster or the policies can't be read");
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const timed = async (name: string, work: () => Promise<string>): Promise<void> => {
  const [began, used] = [now(), cpu()];
  const told = await work();
  const seconds = (now() - began) / 1000;
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${(cpu() - used).toFixed(1)} s of CPU, ${(PODS / seconds).toFixed(0)} objects/s: ${told}`,
  );
};
await timed("floor: pages fetched and parsed", async () => {
  let count = 0;
  for await (const { items } of objectPages(client, { group: "", version: "v1", plural: "pods" }, ""))
    count += items.length;
  return `${count} objects`;
});
const loader = createLoader({ kubeconfig, kubernetes: true });
const runner = new AuditRunner({
  cluster: client,
  policyTimeout: loader.policyTimeout,
  now,
  wall: Date.now,
  onDefect: () => {},
  api: REPORT_APIS.openreports,
  author: "bench",
  writes: false,
  namespace: "",
  excluded: new Set(),
});
const source = new AuditPolicySource(loader, now);
source.useFile(read.config);
runner.use(await source.load());
for (const name of ["first round", "second round, nothing has changed"]) {
  await timed(name, async () => {
    const { summary, counts } = await runner.run({ pace: new FullPace(now), signal: new AbortController().signal });
    return `${summary.evaluated} of ${summary.objects} evaluated, pass ${counts.pass}, fail ${counts.fail}; ${runner.memoryBytes} bytes remembered`;
  });
}
loader.close();
await client.close();
cluster.kill();

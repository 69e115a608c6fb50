/**
 * A minute (or as many seconds as the first argument says) of mixed traffic over TLS while certificates rotate, policies reload, a serving process
 * is killed and a guest loops. No request may be lost, none answered wrongly. Connections that break with the killed process are counted, and
 * their requests sent again.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { tlsFolder } from "../../test/server/tls-files.js";
import { startExample } from "../../test/support/example-server.js";
import { residentBytes, type SoakReport, soak } from "../support/soak.js";
import { EXCHANGES, LOOPING, soakPolicies } from "../support/soak-exchanges.js";

const SECONDS = Number(process.argv[2] ?? 60);
const CLIENTS = 16;
const PROCESSES = 2;
/** Seconds between rotations of the certificate, and between reloads. */
const CHANGE_EVERY = 5;
const MIB = 1024 * 1024;

const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const folder = mkdtempSync(join(tmpdir(), "load-"));
const file = join(folder, "policies.yaml");
writeFileSync(file, soakPolicies(root));
const tls = tlsFolder();
const server = await startExample(
  ...["--policies", file, "--log-level", "info", "--log-fmt", "json", "--workers", `${PROCESSES}`],
  // What is asked is whether answers are right, not whether a busy machine is quick.
  ...["--policy-timeout", "10"],
  ...["--cert-file", tls.certFile, "--key-file", tls.keyFile],
);
const url = `https://localhost:${new URL(server.url).port}`;
const common = { seconds: SECONDS, ca: tls.authority.pem, repeat: true };

/** Rotates and reloads until the time is over, and kills a serving process half-way. */
async function disturb(): Promise<{ rotations: number; reloads: number }> {
  const end = performance.now() + SECONDS * 1000;
  const half = performance.now() + SECONDS * 500;
  let killed = false;
  let rounds = 0;
  while (performance.now() + CHANGE_EVERY * 1000 < end) {
    await sleep(CHANGE_EVERY * 1000);
    rounds += 1;
    tls.install(tls.issue(`server ${rounds}`));
    writeFileSync(file, `${soakPolicies(root)}extra-${rounds}: { cel: { validations: [ { expression: "true" } ] } }\n`);
    if (killed || performance.now() < half) continue;
    killed = true;
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ");
    process.kill(Number(children[0]), "SIGKILL");
  }
  return { rotations: count("TLS certificates reloaded"), reloads: count("reloaded policies") };
}

function count(message: string): number {
  return server.log().split(`"message":"${message}"`).length - 1;
}

function printLatencies({ latencies }: SoakReport): void {
  for (const [name, times] of latencies) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (percent: number) => (sorted[Math.floor((sorted.length * percent) / 100)] ?? 0).toFixed(1);
    console.log(`  ${name.padEnd(22)} ${String(sorted.length).padStart(6)}  p50 ${at(50)} ms  p99 ${at(99)} ms`);
  }
}

try {
  await soak(url, EXCHANGES, { ...common, clients: CLIENTS, seconds: 3 });
  const warm = await residentBytes(server.pid);
  const [report, loops, disturbed] = await Promise.all([
    soak(url, EXCHANGES, { ...common, clients: CLIENTS, perConnection: 200 }),
    soak(url, [LOOPING], { ...common, clients: 1 }),
    disturb(),
  ]);
  const end = await residentBytes(server.pid);
  console.log(
    `${report.requests} requests over TLS and ${loops.requests} looping guests in ${SECONDS} s, ${PROCESSES} processes`,
  );
  console.log(
    `${disturbed.rotations} rotations and ${disturbed.reloads} reloads seen by processes, ${count("a serving process died and is replaced")} replaced`,
  );
  console.log(`${report.repeated + loops.repeated} connections broke with it; their requests were sent again`);
  printLatencies(report);
  console.log(`memory ${Math.round(warm / MIB)} MiB after warming up, ${Math.round(end / MIB)} MiB at the end`);
  const wrong = [...report.wrong, ...loops.wrong];
  for (const text of wrong) console.log(`WRONG ${text}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

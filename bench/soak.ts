/**
 * 16 clients for a minute (or as many seconds as the first argument says): valid, broken, huge and unknown requests, while one client keeps a guest
 * looping. Every answer must be the specified one, memory must stay flat, and the others must be answered while the guest loops.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startExample } from "../test/support/example-server.js";
import { residentBytes, soak } from "./support/soak.js";
import { EXCHANGES, LOOPING, soakPolicies } from "./support/soak-exchanges.js";

const SECONDS = Number(process.argv[2] ?? 60);
const CLIENTS = 16;
const MIB = 1024 * 1024;
const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const folder = mkdtempSync(join(tmpdir(), "soak-"));
const file = join(folder, "policies.yaml");
writeFileSync(file, soakPolicies(root));
const server = await startExample("--policies", file, "--log-level", "error");
try {
  await soak(server.url, EXCHANGES, { clients: CLIENTS, seconds: Math.min(5, SECONDS) });
  const warm = await residentBytes(server.pid);
  const [report, loops] = await Promise.all([
    soak(server.url, EXCHANGES, { clients: CLIENTS, seconds: SECONDS }),
    soak(server.url, [LOOPING], { clients: 1, seconds: SECONDS }),
  ]);
  const end = await residentBytes(server.pid);
  console.log(`${report.requests} requests and ${loops.requests} looping guests in ${SECONDS} s`);
  for (const [name, latencies] of report.latencies) {
    const sorted = [...latencies].sort((a, b) => a - b);
    const at = (p: number) => (sorted[Math.floor((sorted.length * p) / 100)] ?? 0).toFixed(1);
    console.log(`  ${name.padEnd(22)} ${String(sorted.length).padStart(6)}  p50 ${at(50)} ms  p99 ${at(99)} ms`);
  }
  console.log(`memory ${Math.round(warm / MIB)} MiB after warming up, ${Math.round(end / MIB)} MiB at the end`);
  const wrong = [...report.wrong, ...loops.wrong];
  for (const text of wrong) console.log(`WRONG ${text}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

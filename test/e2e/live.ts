/**
 * The end-to-end test of `serve --from-cluster`: a real API server, the CRDs and rights of deploy/ and no others, kubectl. Part of `npm run e2e`; arguments
 * name the scenes to play, without any all are.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "./cluster.js";
import { brokenVersions } from "./live/broken.js";
import { definitions } from "./live/definitions.js";
import { everyKind } from "./live/kinds.js";
import { mutating } from "./live/mutating.js";
import { apiServerAway } from "./live/outage.js";
import { parity } from "./live/parity.js";
import { serveCelModule } from "./live/policies.js";
import { replicasUnderLoad } from "./live/replicas.js";
import { rightsTakenAway } from "./live/rights.js";
import { Stage } from "./live/stage.js";
import { exceptionsOfTenants, oneNamespaceWithTooMuch, tenantsWebhooks } from "./live/tenants.js";
import { trailOfAudits } from "./live/trail.js";
import { walkThrough } from "./live/walk-through.js";

const SCENES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  definitions,
  walk: walkThrough,
  kinds: everyKind,
  broken: brokenVersions,
  replicas: replicasUnderLoad,
  outage: apiServerAway,
  rights: rightsTakenAway,
  tenants: tenantsWebhooks,
  "too-much": oneNamespaceWithTooMuch,
  exceptions: exceptionsOfTenants,
  parity,
  mutating,
  trail: trailOfAudits,
};

const LINES = 60;
/** The end of a log, without what comes every few seconds. */
const tail = (log: string): string => {
  const lines = log.split("\n").filter((line) => !line.includes("audited the cluster's objects"));
  return lines.slice(-LINES).join("\n");
};

const folder = mkdtempSync(join(tmpdir(), "e2e-live-"));
const stopModule = await serveCelModule();
const wanted = process.argv.slice(2);
const failed: string[] = [];
const cluster = await Cluster.start();
try {
  const stage = await Stage.set(cluster, folder);
  for (const [name, scene] of Object.entries(SCENES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n## ${name}`);
    const begin = Date.now();
    // One that fails hides nothing of the others.
    await scene(stage).catch((error: unknown) => {
      failed.push(name);
      console.error(`${name} FAILED:`, error);
      for (const replica of stage.replicas.values()) console.log(`--- ${replica.name}\n${tail(replica.log())}`);
    });
    await stage.clean();
    console.log(`(${Math.round((Date.now() - begin) / 1_000)} s)`);
  }
  await stage.clear();
} finally {
  await cluster.stop();
  stopModule();
  rmSync(folder, { recursive: true, force: true });
}
if (failed.length > 0) throw new Error(`these scenes failed: ${failed.join(", ")}`);
console.log("all scenes with policies from the cluster passed");

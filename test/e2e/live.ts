/**
 * The end-to-end test (`npm run e2e`): a real API server of Kubernetes with its controllers, the CRDs and rights of deploy/ and no others, kubectl. Needs Go and
 * openssl, takes minutes the first time. Arguments name the scenes to play, without any all are. With `--without-server` something that allows everything stands in
 * our server's place, and each claim of a scene must fail.
 */
import { AssertionError } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "./cluster.js";
import { approvals } from "./live/approver.js";
import { brokenVersions } from "./live/broken.js";
import { clusterPolicies } from "./live/cluster-policies.js";
import { definitions } from "./live/definitions.js";
import { breakGlass } from "./live/glass.js";
import { everyKind } from "./live/kinds.js";
import { lock } from "./live/lock.js";
import { mutating } from "./live/mutating.js";
import { apiServerAway } from "./live/outage.js";
import { parity } from "./live/parity.js";
import { serveCelModule } from "./live/policies.js";
import { replicasUnderLoad } from "./live/replicas.js";
import { apiServerRestarts } from "./live/restart.js";
import { rightsTakenAway } from "./live/rights.js";
import { seenByKubectl } from "./live/seen.js";
import { Stage } from "./live/stage.js";
import { exceptionsOfTenants, oneNamespaceWithTooMuch, tenantsWebhooks } from "./live/tenants.js";
import { trailOfAudits } from "./live/trail.js";
import { walkThrough } from "./live/walk-through.js";

const SCENES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  kubectl: seenByKubectl,
  approver: approvals,
  definitions,
  walk: walkThrough,
  kinds: everyKind,
  broken: brokenVersions,
  replicas: replicasUnderLoad,
  outage: apiServerAway,
  restart: apiServerRestarts,
  glass: breakGlass,
  rights: rightsTakenAway,
  tenants: tenantsWebhooks,
  "too-much": oneNamespaceWithTooMuch,
  exceptions: exceptionsOfTenants,
  parity,
  mutating,
  "cluster-policies": clusterPolicies,
  trail: trailOfAudits,
  lock,
};

const LINES = 60;
/** The end of a log, without what comes every few seconds. */
const tail = (log: string): string => {
  const lines = log.split("\n").filter((line) => !line.includes("audited the cluster's objects"));
  return lines.slice(-LINES).join("\n");
};

/** Why a scene that was played without our server does not show what it should; undefined where it does. */
function vacuous({ claims }: Stage, error: unknown): string | undefined {
  if (error !== undefined && !(error instanceof AssertionError)) return `it broke: ${error}`;
  if (claims.length === 0) return error === undefined ? "it passes" : undefined;
  if (error !== undefined) return `an assertion outside of its claims failed: ${error}`;
  const held = claims.filter(({ holds }) => holds).map(({ what }) => what);
  return held.length === 0 ? undefined : `these claims hold: ${held.join("; ")}`;
}

const options = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const strange = [
  ...wanted.filter((name) => !Object.hasOwn(SCENES, name)),
  ...options.filter((option) => option !== "--without-server" && option !== "--write"),
];
if (strange.length > 0) {
  console.error(
    `unknown: ${strange.join(", ")}; there are --without-server, --write, ${Object.keys(SCENES).join(", ")}`,
  );
  process.exit(2);
}
const withoutServer = options.includes("--without-server");
const folder = mkdtempSync(join(tmpdir(), "e2e-live-"));
const stopModule = await serveCelModule();
const failed: string[] = [];
let claimed = 0;
const cluster = await Cluster.start();
try {
  const stage = await Stage.set(cluster, folder, { withoutServer });
  for (const [name, scene] of Object.entries(SCENES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n## ${name}`);
    const begin = Date.now();
    // One that fails hides nothing of the others.
    const error: unknown = await scene(stage).catch((thrown: unknown) => thrown ?? "nothing");
    const why = withoutServer ? vacuous(stage, error) : error;
    if (why !== undefined) {
      failed.push(name);
      console.error(`${name} FAILED:`, why);
      for (const replica of stage.replicas.values()) console.log(`--- ${replica.name}\n${tail(replica.log())}`);
    }
    claimed += Math.max(1, stage.claims.length);
    await stage.clean();
    console.log(`(${Math.round((Date.now() - begin) / 1_000)} s)`);
  }
  await stage.clear();
} finally {
  await cluster.stop();
  stopModule();
  rmSync(folder, { recursive: true, force: true });
}
if (failed.length > 0) {
  console.error(`these scenes ${withoutServer ? "show nothing about our server" : "failed"}: ${failed.join(", ")}`);
  process.exit(1);
}
console.log(
  withoutServer ? `without our server none of ${claimed} claims holds` : `all scenes passed: ${claimed} claims hold`,
);

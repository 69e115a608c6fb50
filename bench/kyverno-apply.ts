/**
 * `policy-server apply` of twenty policies (`support/pod-rules.ts`) to Pods, beside Kyverno's own command.
 *
 * Method: each run is a process of its own, begun with files that have been read before; runs of both sides take turns. CPU is that of all threads,
 * memory the peak of the resident set. Kyverno takes part when KYVERNO names its program; at its pace it gets few Pods. Both must count the same passes and
 * failures. KYVERNO_LARGE=1 adds 100,000 Pods, which takes some minutes (ours only). KYVERNO_FORM=pattern or cel measures ClusterPolicies in place of
 * ValidatingPolicies: converted here, and judged by Kyverno 1.19.1's engine for them there.
 *
 * | what | goal |
 * | --- | --- |
 * | 20 policies, 1,000 Pods | 3 s of CPU, 200 MiB |
 * | 20 policies, 100,000 Pods, from JSON lines or one List | 60 s, 200 MiB |
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { type CommandRun, runCommand } from "./support/command-run.js";
import { OLD_FORMS, oldPolicies } from "./support/old-pod-rules.js";
import { kyvernoPolicies, RULES } from "./support/pod-rules.js";
import { writePods } from "./support/pods.js";
import { median, spread } from "./support/statistics.js";

const ROUNDS = 3;
const PODS = 1_000;
/** As many as Kyverno's command judges in some seconds. */
const FEW_PODS = 10;
const MANY_PODS = 100_000;
/** Nothing takes as long as this unless something is wrong. */
const LIMIT_MS = 240_000;

const peer = process.env.KYVERNO;
const large = process.env.KYVERNO_LARGE === "1";
const folder = mkdtempSync(join(tmpdir(), "bench-kyverno-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const OURS = [process.execPath, fileURLToPath(new URL("../server/main.js", import.meta.url))];
const policies = join(folder, "policies");
mkdirSync(policies);
const form = OLD_FORMS.find((each) => each === process.env.KYVERNO_FORM);
const files = (form === undefined ? kyvernoPolicies() : oldPolicies(form)).map((policy, i) => {
  const file = join(policies, `${i}.yaml`);
  writeFileSync(file, stringify(policy));
  return file;
});
const [onePolicy = ""] = files;

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
  readonly pairs: number;
}

const apply = (program: readonly string[], from: string, resources: string): readonly string[] => [
  ...program,
  ...["apply", from, "--resource", resources],
];

const few = writePods(join(folder, "few.yaml"), FEW_PODS, "yaml");
const one = writePods(join(folder, "one.yaml"), 1, "yaml");

function contender(
  name: string,
  program: readonly string[],
  from: string,
  resources: string,
  pairs: number,
): Contender {
  return { name, command: apply(program, from, resources), pairs };
}

const both = (program: readonly string[], who: string): readonly Contender[] => [
  contender(`${who}: 1 policy, 1 Pod`, program, onePolicy, one, 1),
  contender(`${who}: ${RULES} policies, ${FEW_PODS} Pods`, program, policies, few, RULES * FEW_PODS),
];

const yaml = writePods(join(folder, "pods.yaml"), PODS, "yaml");
const lines = writePods(join(folder, "pods.jsonl"), PODS, "json lines");
const ours = both(OURS, "ours");
const theirs = peer === undefined ? [] : both([peer], "Kyverno");
const thousand = [
  contender(`ours: ${RULES} policies, ${PODS} Pods, YAML`, OURS, policies, yaml, RULES * PODS),
  contender(`ours: ${RULES} policies, ${PODS} Pods, JSON lines`, OURS, policies, lines, RULES * PODS),
];

/** Runs contenders in turns. */
async function race(contenders: readonly Contender[], rounds: number): Promise<readonly (readonly CommandRun[])[]> {
  const runs = contenders.map((): CommandRun[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { command }] of contenders.entries()) runs[i]?.push(await runCommand(command, folder, LIMIT_MS));
  }
  contenders.forEach(({ name, pairs }, i) => {
    const each = runs[i] ?? [];
    const cpu = each.map(({ cpuSeconds }) => cpuSeconds);
    const perPair = pairs === 1 ? "" : `, ${((median(cpu) / pairs) * 1e6).toFixed(0)} µs per policy and Pod`;
    console.log(`${name}: ${spread(cpu)} s of CPU${perPair}`);
    console.log(
      `  ${spread(each.map(({ seconds }) => seconds))} s, ${spread(
        each.map(({ peakMebibytes }) => peakMebibytes),
        0,
      )} MiB; ${each[0]?.lastLine}`,
    );
  });
  return runs;
}

const cpuOf = (runs: readonly CommandRun[] | undefined): number =>
  median((runs ?? []).map(({ cpuSeconds }) => cpuSeconds));
const memoryOf = (runs: readonly CommandRun[] | undefined): number =>
  median((runs ?? []).map(({ peakMebibytes }) => peakMebibytes));

console.log(
  `load average at the start: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(" ")}`,
);
// Programs and files are read from the disk once.
for (const { command } of [...ours, ...theirs.slice(0, 1)]) await runCommand(command, folder, LIMIT_MS);
const contenders = [...ours, ...theirs, ...thousand];
const runs = await race(contenders, ROUNDS);
if (peer !== undefined) {
  const [ourOne, ourFew, theirOne, theirFew, ourThousand] = runs;
  if (ourFew?.[0]?.lastLine !== theirFew?.[0]?.lastLine)
    throw new Error(`other counts: ${ourFew?.[0]?.lastLine} and ${theirFew?.[0]?.lastLine}`);
  const ratio = (what: string, a: number, b: number): void => console.log(`  ${what}: ${(a / b).toFixed(1)}`);
  console.log("\nhow many times as much Kyverno's takes");
  ratio("CPU of 1 policy over 1 Pod", cpuOf(theirOne), cpuOf(ourOne));
  ratio(`CPU of ${RULES} policies over ${FEW_PODS} Pods`, cpuOf(theirFew), cpuOf(ourFew));
  ratio(
    `CPU per policy and Pod, theirs of ${FEW_PODS} Pods, ours of ${PODS}`,
    cpuOf(theirFew) / (RULES * FEW_PODS),
    cpuOf(ourThousand) / (RULES * PODS),
  );
  ratio(
    "CPU per policy and Pod beyond what 1 policy over 1 Pod takes",
    (cpuOf(theirFew) - cpuOf(theirOne)) / (RULES * FEW_PODS),
    (cpuOf(ourThousand) - cpuOf(ourOne)) / (RULES * PODS),
  );
  ratio(`memory, ${FEW_PODS} Pods`, memoryOf(theirFew), memoryOf(ourFew));
}
if (large) {
  console.log("");
  for (const format of ["json lines", "json list"] as const) {
    const file = writePods(join(folder, "many.json"), MANY_PODS, format);
    await race(
      [contender(`ours: ${RULES} policies, ${MANY_PODS} Pods, ${format}`, OURS, policies, file, RULES * MANY_PODS)],
      1,
    );
  }
}
console.log(
  `load average at the end: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(" ")}`,
);

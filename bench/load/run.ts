/**
 * The chaos run: `npm run load [-- --seconds N] [scenario…]`. Scenarios one after the other, each with a server and honest clients of its own; a table of
 * what honest clients saw; exit code 1 when anything was lost, wrong or late that must not be. docs/testing.md says what each does.
 */
import { parseArgs } from "node:util";
import { SCENARIOS } from "./scenarios.js";
import { type Played, type Scenario, Stage } from "./stage.js";

/** Seconds of disturbance, unless the command line says otherwise. */
const DEFAULT_SECONDS = 20;
/** A scenario that takes longer than its seconds and this, has got stuck. */
const STUCK_AFTER_MS = 180_000;

const { values, positionals } = parseArgs({ options: { seconds: { type: "string" } }, allowPositionals: true });
const seconds = Number(values.seconds ?? DEFAULT_SECONDS);
const wanted = SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const unknown = positionals.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
if (unknown.length > 0 || !(seconds > 0)) {
  console.error(
    `usage: npm run load [-- --seconds N] [scenario…]; scenarios: ${SCENARIOS.map(({ name }) => name).join(" ")}`,
  );
  process.exit(2);
}

/** The stage that is being played on: whatever ends this process must not leave a server behind. */
let current: Stage | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.on("exit", () => current?.clear());

async function play({ name, what, play: scenario }: Scenario): Promise<Stage> {
  const stage = new Stage(seconds);
  current = stage;
  console.log(`\n# ${name}: ${what}`);
  let stuck: NodeJS.Timeout | undefined;
  try {
    const limit = new Promise<never>((_, reject) => {
      stuck = setTimeout(() => reject(new Error("got stuck")), STUCK_AFTER_MS + seconds * 1000);
    });
    await Promise.race([scenario(stage), limit]);
  } catch (error) {
    stage.breach(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    clearTimeout(stuck);
    stage.clear();
    current = undefined;
  }
  for (const phase of stage.phases) console.log(row(name, phase));
  for (const note of stage.notes) console.log(`  ${note}`);
  for (const breach of stage.breaches) console.log(`  BREACH ${breach}`);
  return stage;
}

const COLUMNS = [
  "scenario",
  "phase",
  "requests",
  "wrong",
  "failed",
  "away",
  "lost",
  "refused",
  "p50",
  "p99",
  "max",
  "bare p99",
  "hold",
  "slowest p99",
];
const WIDTHS = [14, 10, 9, 6, 7, 5, 5, 8, 7, 8, 8, 9, 8, 24];

function row(name: string, phase: Played): string {
  const { requests, wrong, failed, turnedAway, lost, refused, p50, p99, max, kinds, referenceP99, hold } = phase;
  const times = [p50, p99, max, referenceP99, hold].map((time) => time.toFixed(1));
  return cells([
    name,
    phase.name,
    requests,
    wrong,
    failed,
    turnedAway,
    lost,
    refused,
    ...times,
    kinds[0] === undefined ? "" : `${kinds[0].name} ${kinds[0].p99.toFixed(0)}`,
  ]);
}

function cells(values: readonly (string | number)[]): string {
  return values.map((value, index) => `${value}`[index < 2 ? "padEnd" : "padStart"](WIDTHS[index] ?? 0)).join(" ");
}

const played: [string, Stage][] = [];
for (const scenario of wanted) played.push([scenario.name, await play(scenario)]);

console.log(`\n${cells(COLUMNS)}`);
for (const [name, { phases }] of played) for (const phase of phases) console.log(row(name, phase));
console.log(
  'times in milliseconds; "bare p99" is that of a bare node:http server asked by the same clients at the same time; "hold" the longest\ntime that a process of the server computed on its main thread at a stretch, those that started in it too\n',
);
for (const [name, { breaches, capacity }] of played) {
  console.log(
    `${name.padEnd(14)} capacity ${capacity.toFixed(0)}/s  ${breaches.length === 0 ? "kept" : `${breaches.length} BREACHES`}`,
  );
}
process.exitCode = played.some(([, { breaches }]) => breaches.length > 0) ? 1 : 0;

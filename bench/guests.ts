/**
 * WASM policies over HTTP as a pod with one core serves them, beside Kubewarden's policy-server where `KUBEWARDEN_POLICY_SERVER` says where its
 * program is, and beside bare node:http that parses the same body. All get the same modules, settings and review of 6 KB and are asked in turns over 16
 * connections; server and client each on a core of their own where the system can pin them. docs/testing.md says how to run it.
 *
 * | figure | goal |
 * | --- | --- |
 * | requests/s through the peer's | 5 times for trivial policies, 4 for Rust and Gatekeeper, 6 for a group of four, 50 for trusted-repos |
 * | p99 through the peer's | at most 0.5 |
 * | p99 beside a policy that loops / alone | at most 1.1 |
 * | memory with one policy, with 100 of one module of 2 MB | at most 75 MiB, at most 300 MiB |
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../test/support/example-server.js";
import { podReview, withMetadata } from "./support/guest-modules.js";
import { load, MeasuredServer, PINNED } from "./support/measured-server.js";
import { figures, inTurns, type Plan, type Round, ratio, type Side } from "./support/side-by-side.js";
import { median, spread } from "./support/statistics.js";

const setting = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const PLAN: Plan = {
  rounds: setting("BENCH_ROUNDS", 5),
  seconds: setting("BENCH_SECONDS", 8),
  warmUp: setting("BENCH_WARM_UP_SECONDS", 15),
  connections: 16,
};
/** For a policy that takes up to 100 ms: more would only wait for each other. */
const SLOW_CONNECTIONS = 4;
const SLOW_TIMEOUT_SECONDS = 10;
const BESIDE_CONNECTIONS = 8;
/** Clients of the policy that loops, each with one request at a time. */
const LOOPING = [1, 4];
/** Time that a policy gets to answer, of both servers: the default of both. */
const TIMEOUT_SECONDS = 2;
const MANY = 100;
/** Requests/s of ours / the peer's; absent: there is no goal. */
const GOALS: Readonly<Record<string, number>> = {
  ...{ wapc: 5, extism: 5, rust: 4, gatekeeper: 4, group: 6, "trusted-repos": 50 },
};
const P99_GOAL = 0.5;
const BESIDE_GOAL = 1.1;

const root = fileURLToPath(new URL("../..", import.meta.url));
const peer = process.env.KUBEWARDEN_POLICY_SERVER;
const folder = mkdtempSync(join(tmpdir(), "bench-guests-"));
const body = join(folder, "review.json");

/** An entry of policies.yaml, in what both servers understand. */
function entry(module: string, executionMode: string, settings = "{}"): string {
  const path = withMetadata(module, join(folder, "modules"), executionMode);
  return `{ module: "file://${path}", settings: ${settings} }`;
}

const ownFile = (path: string): string => join(root, path);
/** Modules of others, which are not part of the project: `GUEST_MODULES` names their folder. */
const theirFile = (name: string): string => join(process.env.GUEST_MODULES ?? folder, name);
const trivial = entry(ownFile("test/fixtures/trivial/wapc.wasm"), "kubewarden-wapc");
const rust = entry(ownFile("test/vectors/kubewarden/wasm/chaos-wapc.wasm"), "kubewarden-wapc", "{ mode: accept }");
const looping = entry(ownFile("test/vectors/kubewarden/wasm/chaos-wapc.wasm"), "kubewarden-wapc", "{ mode: loop }");

/** A policy that is measured. */
interface Row {
  readonly name: string;
  readonly what: string;
  /** Its entry for both servers, or for ours and the peer's. */
  readonly policy: string | readonly [string, string];
  /** Default: those of the plan. */
  readonly connections?: number;
}

const ROWS: readonly Row[] = [
  { name: "wapc", what: "the smallest waPC policy", policy: trivial },
  {
    name: "extism",
    what: "the smallest Extism policy (the peer has no Extism: its side is the smallest waPC policy)",
    policy: [entry(ownFile("test/fixtures/trivial/extism.wasm"), "extism"), trivial],
  },
  { name: "rust", what: "a Rust policy of 112 KB (waPC)", policy: rust },
  {
    name: "wasi",
    what: "a Rust policy of 101 KB (WASI)",
    policy: entry(ownFile("test/vectors/kubewarden/wasm/chaos-wasi.wasm"), "wasi", "{ mode: accept }"),
  },
  {
    name: "gatekeeper",
    what: "no privileged containers, in Rego (Gatekeeper)",
    policy: entry(ownFile("test/vectors/rego/gatekeeper.wasm"), "gatekeeper", "{ exempt: [] }"),
  },
  {
    name: "opa",
    what: "an accept in Rego (OPA)",
    policy: entry(ownFile("test/vectors/rego/opa.wasm"), "opa", "{ mode: accept }"),
  },
  {
    name: "group",
    what: "a group of four of the smallest waPC policy, all evaluated",
    policy: `{ expression: a() && b() && c() && d(), message: "no", policies: { a: ${trivial}, b: ${trivial}, c: ${trivial}, d: ${trivial} } }`,
  },
  ...theirs("pod-privileged", "Kubewarden's pod-privileged (Rust, 2 MB)", "{}"),
  ...theirs(
    "trusted-repos",
    "Kubewarden's trusted-repos (Rust, 3.3 MB)",
    "{ registries: { allow: [registry.acme.example] }, tags: { reject: [latest] } }",
    SLOW_CONNECTIONS,
  ),
];

function theirs(name: string, what: string, settings: string, connections = PLAN.connections): readonly Row[] {
  const path = theirFile(`${name}.wasm`);
  return existsSync(path) ? [{ name, what, policy: entry(path, "kubewarden-wapc", settings), connections }] : [];
}

/** Policies for ours and for the peer's server, by the path of their files. */
function write(name: string, [ours, theirs]: readonly [string, string]): readonly [string, string] {
  const [own, other] = [join(folder, `${name}-ours.yaml`), join(folder, `${name}-peer.yaml`)];
  writeFileSync(own, ours);
  writeFileSync(other, theirs);
  return [own, other];
}

/** Starts the servers that there are, each with one worker; all else is as they have it by default. */
async function start(
  name: string,
  policies: readonly [string, string],
  timeout = TIMEOUT_SECONDS,
): Promise<readonly Side[]> {
  const [own, other] = write(name, policies);
  const serve = async (side: string, command: readonly string[], file: string): Promise<Side> => {
    const [port, probes] = [await freePort(), await freePort()];
    const flags = [
      ...["--policies", file, "--addr", "127.0.0.1", "--port", `${port}`, "--readiness-probe-port", `${probes}`],
      ...["--workers", "1", "--policy-timeout", `${timeout}`],
    ];
    const readiness = `http://127.0.0.1:${probes}/readiness`;
    const server = await MeasuredServer.start({ command: [...command, ...flags], cwd: folder, port, readiness });
    running.push(server);
    return { name: side, server, question: { port, path: `/validate/${name}`, body } };
  };
  // By its first line, as npx does: it says what V8 may take for short-lived objects.
  const sides = [await serve("ours", [join(root, "dist/server/main.js")], own)];
  if (peer !== undefined) sides.push(await serve("peer", [peer, "--ignore-kubernetes-connection-failure"], other));
  return sides;
}

const running: MeasuredServer[] = [];
async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.stop()));
}

async function startBare(): Promise<Side> {
  const port = await freePort();
  const command = [process.execPath, join(root, "dist/bench/support/bare-server.js"), `${port}`];
  const server = await MeasuredServer.start({ command, cwd: folder, port, readiness: `http://127.0.0.1:${port}/` });
  running.push(server);
  return { name: "bare", server, question: { port, path: "/", body } };
}

const both = (policy: Row["policy"], around: (entry: string) => string): readonly [string, string] =>
  typeof policy === "string" ? [around(policy), around(policy)] : [around(policy[0]), around(policy[1])];

function compare(name: string, rounds: ReadonlyMap<string, readonly Round[]>): void {
  const [ours = [], others, bare = []] = ["ours", "peer", "bare"].map((side) => rounds.get(side));
  console.log(`  ours / bare node:http   requests ${ratio(ours, bare, "perSecond")}  CPU ${ratio(ours, bare, "cpu")}`);
  if (others === undefined) return;
  const goal = GOALS[name];
  const wanted = goal === undefined ? "" : ` (goal ${goal})`;
  console.log(
    `  ours / peer             requests ${ratio(ours, others, "perSecond")}${wanted}  ` +
      `p50 ${ratio(ours, others, "p50")}  p99 ${ratio(ours, others, "p99")} (goal ${P99_GOAL})  CPU ${ratio(ours, others, "cpu")}`,
  );
}

/** One policy, all sides in turns. */
async function row({ name, what, policy, connections = PLAN.connections }: Row): Promise<void> {
  console.log(`\n${name}: ${what}${connections === PLAN.connections ? "" : `, at ${connections} connections`}`);
  const timeout = connections === SLOW_CONNECTIONS ? SLOW_TIMEOUT_SECONDS : TIMEOUT_SECONDS;
  const sides = await start(
    name,
    both(policy, (text) => `${name}: ${text}\n`),
    timeout,
  );
  const starts = sides.map(({ server }) => server.usage());
  const rounds = await inTurns([...sides, await startBare()], { ...PLAN, connections });
  for (const [side, measured] of rounds) console.log(`  ${side}  ${figures(measured)}`);
  for (const [index, { name: side, server }] of sides.entries()) {
    const [first, last] = [starts[index], server.usage()];
    console.log(
      `  ${side}  ready after ${first?.cpu.toFixed(2)} s of CPU with ${first?.memory.toFixed(0)} MiB, ${last.memory.toFixed(0)} MiB after the load`,
    );
  }
  compare(name, rounds);
}

/** What a policy that loops costs the requests of another: rounds alternate with and without it. */
async function beside(): Promise<void> {
  console.log(`\nbeside: the Rust policy at ${BESIDE_CONNECTIONS} connections, alone and beside a policy that loops`);
  const policies = `beside: ${rust}\nrunaway: ${looping}\n`;
  for (const side of await start("beside", [policies, policies])) {
    const { server, question } = side;
    const loops = { ...question, path: "/validate/runaway" };
    await load(question, BESIDE_CONNECTIONS, PLAN.warmUp);
    for (const clients of LOOPING) {
      const [alone, along]: [number[], number[]] = [[], []];
      // What a server learns of a policy that loops is not what is measured.
      await load(loops, clients, TIMEOUT_SECONDS);
      for (let round = 0; round < PLAN.rounds; round++) {
        alone.push((await load(question, BESIDE_CONNECTIONS, PLAN.seconds)).p99);
        const looped = load(loops, clients, PLAN.seconds + 1);
        // The start of the other client is not what is measured.
        await sleep(500);
        along.push((await load(question, BESIDE_CONNECTIONS, PLAN.seconds)).p99);
        const { allowed } = await looped;
        if (allowed > 0) throw new Error(`${side.name} allowed a request whose policy never ends`);
      }
      const ratios = spread(along.map((p99, round) => p99 / (alone[round] ?? Number.NaN)));
      const goal = side.name === "ours" ? ` (goal ${BESIDE_GOAL})` : "";
      console.log(
        `  ${side.name}  p99 alone ${spread(alone)} ms, beside ${clients} looping ${spread(along)} ms; beside/alone ${ratios}${goal}`,
      );
    }
    console.log(`  ${side.name}  ${server.usage().memory.toFixed(0)} MiB afterwards`);
  }
}

/** One module under many names, each with settings of its own. */
async function many(): Promise<void> {
  const path = theirFile("capabilities-psp.wasm");
  if (!existsSync(path)) return;
  console.log(`\nmany: ${MANY} policies of Kubewarden's capabilities-psp (Rust, 2 MB), each with other settings`);
  const policies = Array.from({ length: MANY }, (_, index) => {
    const name = index === 0 ? "many" : `many-${index}`;
    return `${name}: ${entry(path, "kubewarden-wapc", `{ allowed_capabilities: ["*", "CAP_${index}"] }`)}`;
  }).join("\n");
  for (const { name, server, question } of await start("many", [policies, policies])) {
    const { cpu, memory } = server.usage();
    const seconds = PLAN.seconds / MANY;
    const p50: number[] = [];
    for (let index = 0; index < MANY; index++) {
      const path = index === 0 ? question.path : `${question.path}-${index}`;
      p50.push((await load({ ...question, path }, PLAN.connections, seconds)).p50);
    }
    const after = server.usage().memory;
    console.log(
      `  ${name}  ready after ${cpu.toFixed(2)} s of CPU with ${memory.toFixed(0)} MiB, ${after.toFixed(0)} MiB when each was asked at ${PLAN.connections} connections; p50 ${median(p50).toFixed(1)} ms`,
    );
  }
}

writeFileSync(body, podReview());
const wanted = process.argv.slice(2);
const runs: readonly (readonly [string, () => Promise<void>])[] = [
  ...ROWS.map((each) => [each.name, () => row(each)] as const),
  ["beside", beside],
  ["many", many],
];
try {
  console.log(
    `${PLAN.rounds} rounds of ${PLAN.seconds} s, ${PLAN.connections} connections, ${PLAN.warmUp} s of warm-up: median (min … max)` +
      (PINNED ? "; server on one core, client on another" : "; not pinned: server and client share all cores"),
  );
  if (peer === undefined)
    console.log("KUBEWARDEN_POLICY_SERVER is not set: no ratio to Kubewarden's server can be given.");
  for (const [name, run] of runs) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    try {
      await run();
    } catch (error) {
      console.log(`  NOT MEASURED: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    } finally {
      await stopAll();
    }
  }
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}

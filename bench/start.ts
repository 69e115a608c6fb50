/**
 * What it takes until a server is ready, and what one process holds then and after a time under load (as many seconds as the first argument says, 10 by
 * default; 16 connections, a review of 6 KB): user and system time of all its processes and threads, and resident memory, as the system counts them. Starts are
 * in turns with Kubewarden's policy-server where `KUBEWARDEN_POLICY_SERVER` says where its program is.
 *
 * | figure | goal |
 * | --- | --- |
 * | CPU time until ready, one process | at most 0.5 s |
 * | memory of one process under load | at most 75 MiB |
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withMetadata } from "./support/guest-modules.js";
import { load, MeasuredServer, type Usage } from "./support/measured-server.js";
import { spread } from "./support/statistics.js";

const ROUNDS = 5;
const CONNECTIONS = 16;
const PORT = 48_191;
const SECONDS = Number(process.argv[2] ?? 10);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bench-start-"));
const body = join(folder, "review.json");
const peer = process.env.KUBEWARDEN_POLICY_SERVER;
// The peer reads from the module itself what it speaks.
const trivial = withMetadata(join(root, "test/fixtures/trivial/wapc.wasm"), join(folder, "modules"), "kubewarden-wapc");
const wapc = (id: string): string => `${id}: { module: "file://${trivial}" }\n`;

interface Configuration {
  readonly what: string;
  readonly file: string;
  /** Policy that the load asks; absent: none is put on it. */
  readonly asked?: string;
  /** Whether the peer can load it. */
  readonly portable: boolean;
  readonly args?: readonly string[];
}

const written = (name: string, text: string): string => {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, text);
  return file;
};
const CONFIGURATIONS: readonly Configuration[] = [
  { what: "the smallest waPC module", file: written("wapc", wapc("plain")), asked: "plain", portable: true },
  {
    what: "an inline CEL policy",
    file: written(
      "cel",
      'plain: { cel: { validations: [{ expression: "!object.spec.?hostNetwork.orValue(false)" }] } }\n',
    ),
    asked: "plain",
    portable: false,
  },
  {
    what: "policies.yaml of this repository, policies of every kind",
    file: join(root, "policies.yaml"),
    portable: false,
  },
  {
    what: "the same in two serving processes",
    file: join(root, "policies.yaml"),
    portable: false,
    args: ["--workers", "2"],
  },
];

/** A Pod with as many containers as make a review of about 6 KB. */
function writeReview(): void {
  const review = JSON.parse(readFileSync(join(root, "test/fixtures/reviews/pod.json"), "utf8"));
  const { spec } = review.request.object;
  const [container] = spec.containers;
  spec.containers = Array.from({ length: 96 }, (_, index) => ({ ...container, name: `${container.name}-${index}` }));
  writeFileSync(body, JSON.stringify(review));
}

/** One start: what it took, and what it held in the end. */
async function start(
  program: readonly string[],
  { file, asked, args = ["--workers", "1"] }: Configuration,
  seconds: number,
) {
  const ports = ["--addr", "127.0.0.1", "--port", `${PORT}`, "--readiness-probe-port", `${PORT + 1}`];
  const command = [...program, "--policies", file, ...ports, ...args];
  const readiness = `http://127.0.0.1:${PORT + 1}/readiness`;
  const server = await MeasuredServer.start({ command, cwd: root, port: PORT, readiness });
  try {
    const ready: Usage = server.usage();
    if (asked !== undefined && seconds > 0) {
      await load({ port: PORT, path: `/validate/${asked}`, body }, CONNECTIONS, seconds);
    }
    return { ready, after: server.usage() };
  } finally {
    await server.stop();
  }
}

writeReview();
try {
  for (const configuration of CONFIGURATIONS) {
    console.log(configuration.what);
    const sides = [
      { name: "ours", program: [join(root, "dist/server/main.js")] },
      ...(peer !== undefined && configuration.portable
        ? [{ name: "peer", program: [peer, "--ignore-kubernetes-connection-failure"] }]
        : []),
    ].map((side) => ({ ...side, cpu: [] as number[], memory: [] as number[], after: undefined as number | undefined }));
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of sides) {
        const last = round === ROUNDS - 1;
        const { ready, after } = await start(side.program, configuration, last ? SECONDS : 0);
        side.cpu.push(ready.cpu);
        side.memory.push(ready.memory);
        if (last && configuration.asked !== undefined) side.after = after.memory;
      }
    }
    for (const { name, cpu, memory, after } of sides) {
      const loaded = after === undefined ? "" : `, ${after.toFixed(0)} MiB after ${SECONDS} s of load`;
      console.log(`  ${name}  ready after ${spread(cpu)} s of CPU with ${spread(memory, 0)} MiB${loaded}`);
    }
  }
  if (peer === undefined) console.log("KUBEWARDEN_POLICY_SERVER is not set: there is nothing to compare with.");
} finally {
  rmSync(folder, { recursive: true });
}

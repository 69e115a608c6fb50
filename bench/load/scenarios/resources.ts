/** Things that run out: room in the log's reader, file descriptors, memory, and labels of metrics. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { attack, describeAttack, holdConnections } from "../../support/attack.js";
import { AIMS, hostilePolicies, hostileShots, wrongForHostile } from "../../support/hostile.js";
import { allowedIn, judge, knownPolicies } from "../../support/reviews.js";
import { sumOf } from "../../support/server.js";
import { type Exchange, soak } from "../../support/soak.js";
import { ROOT, type Scenario, type Stage } from "../stage.js";

/** Bytes of a body just below the default limit (2 MiB). */
const BODY_BYTES = 2_000_000;

function policiesIn(stage: Stage, more = ""): string {
  const file = join(stage.folder, "policies.yaml");
  writeFileSync(file, `${knownPolicies(ROOT)}${more}`);
  return file;
}

/** A guest that logs as much as it may for a request. */
const LOGGING: Exchange = {
  name: "guest logs",
  path: "/validate_raw/chaos",
  body: '{"request":{"mode":"log-flood"}}',
  status: 200,
  answer: /"allowed":true/,
};

/** Nobody reads the log. */
export const socket: Scenario = {
  name: "socket",
  what: "output goes to sockets that nobody reads, with more lines than fit",
  async play(stage) {
    const chaos = `chaos: { module: "${ROOT}/test/fixtures/chaos/extism.wasm" }\n`;
    await stage.open({ policies: policiesIn(stage, chaos), output: "unread", args: ["--log-level", "info"] });
    let wrong: readonly string[] = [];
    await stage.phase("full", async () => {
      ({ wrong } = await soak(stage.server.url, [LOGGING], { clients: 2, seconds: stage.seconds }));
    });
    for (const text of wrong) stage.breach(`logging guest: ${text}`);
    const dropped = sumOf((await stage.server.metrics()) ?? "", "policy_server_log_lines_dropped");
    stage.note(`${dropped} log lines were dropped`);
    stage.expect(dropped > 0, "no line was dropped: the sockets were not full");
    await stage.aftermath();
    const started = performance.now();
    await stage.close();
    stage.note(`stopped within ${((performance.now() - started) / 1000).toFixed(1)} s`);
  },
};

/** Files that each process may have open. */
const OPEN_FILES = 160;
/** Connections of the flood, to either port: more than all processes have room for. */
const FLOOD = 400;

/** Connections take every descriptor; meanwhile a process dies and policies change. */
export const descriptors: Scenario = {
  name: "descriptors",
  what: `${FLOOD} connections to either port of processes that may open ${OPEN_FILES} files, a kill and a reload meanwhile`,
  async play(stage) {
    const file = policiesIn(stage);
    await stage.open({ policies: file, openFiles: OPEN_FILES });
    let floods: { end(): void }[] = [];
    await stage.phase(
      "flood",
      async () => {
        floods = [stage.server.url, stage.server.probes].map((url) => holdConnections(url, FLOOD));
        await sleep(stage.seconds * 500);
        writeFileSync(file, `${knownPolicies(ROOT)}extra: { cel: { validations: [ { expression: "true" } ] } }\n`);
        await sleep(stage.seconds * 500);
      },
      { refused: true },
    );
    stage.note(
      `"connections can't be accepted" was logged ${stage.server.logged("connections can't be accepted")} times`,
    );
    const [pid = 0] = stage.server.workers();
    const holds = stage.server.connectionsOf(pid);
    const report = await stage.phase(
      "kill",
      async () => {
        process.kill(pid, "SIGKILL");
        await sleep(5000);
      },
      { refused: true, lost: holds },
    );
    stage.note(
      `${report.lost} requests were lost with the process that was killed in the flood; it had ${holds} connections`,
    );
    for (const flood of floods) flood.end();
    const calm = await stage.until(
      async () => stage.server.workers().length === 2 && (await stage.server.ready()),
      30_000,
    );
    stage.expect(calm, "the killed process was not replaced within 30 s after the flood");
    stage.expect(stage.server.logged("reloaded policies") > 0, "the reload during the flood was not applied");
    await stage.aftermath();
    await stage.close();
  },
};

/** MiB of heap for each process, of which a start takes half. */
const HEAP_MIB = 64;
/** Objects that need many times their text's size. */
const WIDE = ["wide map", "map of maps", "empty objects", "list of numbers"];

/** Too little memory for what is asked. */
export const heap: Scenario = {
  name: "heap",
  what: `a heap of ${HEAP_MIB} MiB, and bodies of ${BODY_BYTES / 1e6} MB whose objects need more`,
  async play(stage) {
    const policies = policiesIn(stage, hostilePolicies(ROOT, stage.folder));
    await stage.open({ policies, nodeArgs: [`--max-old-space-size=${HEAP_MIB}`], args: ["--policy-timeout", "10"] });
    const shots = hostileShots(BODY_BYTES, { ...AIMS.all, shapes: WIDE });
    const report = await stage.phase(
      "wide",
      async () => {
        const end = performance.now() + stage.seconds * 1000;
        const next = () => (performance.now() < end ? shots() : undefined);
        const attacked = await attack(stage.server.url, { clients: 2, next, wrong: wrongForHostile });
        for (const text of attacked.wrong) stage.breach(`wide objects: ${text}`);
        stage.note(describeAttack(attacked));
      },
      // Whoever needs more memory than there is dies, and takes what it held along.
      { lost: Number.POSITIVE_INFINITY, refused: true, turnedAway: true, late: true },
    );
    const died = stage.server.logged("a serving process died and is replaced");
    stage.note(`${died} processes died and were replaced; ${report.lost} honest requests were lost with them`);
    if (died === 0) stage.expect(report.lost === 0, "requests were lost although no process died");
    // Processes that die again and again are replaced after pauses of up to 30 s.
    const back = await stage.until(
      async () => stage.server.workers().length === 2 && (await stage.server.ready()),
      60_000,
    );
    stage.expect(back, "not all processes were replaced within 60 s");
    await stage.aftermath();
    await stage.close();
  },
};

/** Kinds and namespaces of the flood: their product is far above what metrics tell apart. */
const KINDS = 3;
const NAMESPACES = 4200;
const SCRAPE_EVERY_MS = 1000;

/** Requests from more namespaces than metrics can tell apart, and somebody who scrapes them. */
export const labels: Scenario = {
  name: "labels",
  what: `${KINDS * NAMESPACES} kinds and namespaces, scraped every second`,
  async play(stage) {
    await stage.open({ policies: policiesIn(stage), args: ["--log-level", "warn"] });
    let sent = 0;
    const sizes: number[] = [];
    await stage.phase("labels", async () => {
      const next = () => {
        if (sent === KINDS * NAMESPACES) return undefined;
        const { path, before, after } = allowedIn(`Kind${sent % KINDS}`, `namespace-${Math.floor(sent / KINDS)}`);
        sent += 1;
        return { name: "label", path, body: `${before}label${after}` };
      };
      const known = allowedIn("", "");
      const wrong = (_: unknown, status: number, body: string) => {
        const judgement = judge(known, "label", status, body);
        return judgement === "right" ? undefined : `${status} ${body.slice(0, 200)}`;
      };
      let over = false;
      const scrape = async (): Promise<void> => {
        while (!over) {
          const text = await stage.server.metrics();
          if (text === undefined) stage.breach("a scrape failed");
          else sizes.push(text.length);
          await sleep(SCRAPE_EVERY_MS);
        }
      };
      const scraping = scrape();
      const report = await attack(stage.server.url, { clients: 2, next, wrong });
      over = true;
      await scraping;
      for (const text of report.wrong) stage.breach(`label flood: ${text}`);
      stage.expect(report.statuses.get(0) === undefined, "requests of the flood were lost");
      stage.note(describeAttack(report));
    });
    const metrics = (await stage.server.metrics()) ?? "";
    const honest = stage.phases.reduce((sum, { requests }) => sum + requests, stage.warmedUp);
    const counted = sumOf(metrics, "policy_server_http_request_seconds_count");
    const evaluated = sumOf(metrics, "kubewarden_policy_evaluations_total");
    stage.expect(counted === sent + honest, `${counted} requests were counted, ${sent + honest} were sent`);
    stage.expect(evaluated >= counted, `${evaluated} evaluations were counted, of ${counted} requests`);
    stage.expect(sumOf(metrics, "policy_server_metrics_folded_total") > 0, "nothing was folded: no flood");
    stage.note(`${sizes.length} scrapes of at most ${(Math.max(...sizes, 0) / 1e6).toFixed(1)} MB`);
    await stage.aftermath();
    await stage.close();
  },
};

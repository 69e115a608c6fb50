/** Serving processes that die or stop in their tracks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { knownPolicies } from "../../support/reviews.js";
import { ROOT, type Scenario, type Stage } from "../stage.js";

/** Milliseconds in which a process that hangs must be replaced: 10 s of silence, a look, and its start on a busy machine. */
const REPLACED_WITHIN_MS = 30_000;
/** Seconds that requests under way get at the end. */
const GRACE_SECONDS = 3;

function policiesIn(stage: Stage): string {
  const file = join(stage.folder, "policies.yaml");
  writeFileSync(file, knownPolicies(ROOT));
  return file;
}

/** The serving process with most connections, and how many: so many requests may be lost with it. */
function victim(stage: Stage): { readonly pid: number; readonly holds: number } {
  const candidates = stage.server.workers().map((pid) => ({ pid, holds: stage.server.connectionsOf(pid) }));
  const [busiest] = candidates.sort((a, b) => b.holds - a.holds);
  if (busiest === undefined) throw new Error("no serving process");
  return busiest;
}

/** The server serves with another process in place of this one. */
async function replaced(stage: Stage, pid: number, message: string): Promise<void> {
  const done = await stage.until(
    async () =>
      stage.server.logged(message) > 0 &&
      !stage.server.workers().includes(pid) &&
      stage.server.workers().length === 2 &&
      (await stage.server.ready()),
    REPLACED_WITHIN_MS,
  );
  stage.expect(done, `no "${message}" and no process in its place within ${REPLACED_WITHIN_MS / 1000} s`);
}

/** A serving process is killed while it answers. */
export const killed: Scenario = {
  name: "killed",
  what: "a serving process is killed (SIGKILL) under load",
  async play(stage) {
    await stage.open({ policies: policiesIn(stage) });
    const { pid, holds } = victim(stage);
    const report = await stage.phase(
      "killed",
      async () => {
        await sleep(1000);
        process.kill(pid, "SIGKILL");
        await replaced(stage, pid, "a serving process died and is replaced");
        await sleep(1000);
      },
      { lost: holds, refused: true },
    );
    stage.note(`it had ${holds} connections; ${report.lost} requests were lost with it`);
    await stage.aftermath();
    await stage.close();
  },
};

/** A serving process stops in its tracks; again while policies are reloaded; and once more when the server stops. */
export const hung: Scenario = {
  name: "hung",
  what: "a serving process is stopped (SIGSTOP) under load, during a reload, and when the server stops",
  async play(stage) {
    const file = policiesIn(stage);
    await stage.open({ policies: file, args: ["--drain-grace", `${GRACE_SECONDS}`], patience: 20_000 });
    const { pid, holds } = victim(stage);
    const report = await stage.phase(
      "hung",
      async () => {
        process.kill(pid, "SIGSTOP");
        await sleep(1000);
        writeFileSync(file, `${knownPolicies(ROOT)}extra: { cel: { validations: [ { expression: "true" } ] } }\n`);
        await replaced(stage, pid, "a serving process hangs");
        const applied = await stage.until(() => stage.server.logged("reloaded policies") > 0, REPLACED_WITHIN_MS);
        stage.expect(applied, "the reload was not applied by the others");
      },
      { lost: holds },
    );
    stage.note(`it had ${holds} connections; ${report.lost} requests were lost with it`);
    await stage.aftermath();
    const [second] = stage.server.workers();
    if (second === undefined) throw new Error("no serving process");
    process.kill(second, "SIGSTOP");
    const started = performance.now();
    await stage.close();
    stage.note(
      `stopped within ${((performance.now() - started) / 1000).toFixed(1)} s while a process hung; grace ${GRACE_SECONDS} s`,
    );
  },
};

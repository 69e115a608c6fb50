/** Files that change under a server: policies and certificates, many times and in the middle of being written; and clocks that jump. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tlsFolder } from "../../../test/server/tls-files.js";
import { largeModule } from "../../support/large-module.js";
import { knownPolicies } from "../../support/reviews.js";
import { sumOf } from "../../support/server.js";
import { soak } from "../../support/soak.js";
import { EXCHANGES, LOOPING, soakPolicies } from "../../support/soak-exchanges.js";
import { ROOT, type Scenario } from "../stage.js";

/** Milliseconds between changes of the files: they are looked at every second, and taken when they stand still. */
const CHANGE_EVERY_MS = 2500;
/** Bytes of code of a module that a language's runtime is part of. */
const LARGE_MODULE_BYTES = 2_000_000;
/** Clients that send everything, right and wrong, beside. */
const MIXED_CLIENTS = 2;
/** Seconds that everything stands still: longer than a process may be silent before it is taken for hung (10 s). */
const SUSPENDED_SECONDS = 13;
/** Honest requests that may be under way when everything stops: their evaluations are late when it goes on. */
const UNDER_WAY = 16;
const YEAR_MS = 365 * 24 * 3600 * 1000;
/** How long a change of files may take to be in force. */
const IN_FORCE_WITHIN_MS = 20_000;

const extra = (round: number): string => `extra-${round}: { cel: { validations: [ { expression: "true" } ] } }\n`;

/** Policies and certificates change every few seconds; half of the policies' versions are broken. */
export const storm: Scenario = {
  name: "storm",
  what: "reloads that bring a module of 2 MB, and certificate rotations, one after the other; mixed traffic and a looping guest beside",
  async play(stage) {
    const tls = tlsFolder();
    const file = join(stage.folder, "policies.yaml");
    writeFileSync(file, soakPolicies(ROOT));
    const { certFile, keyFile } = tls;
    const ca = tls.authority.pem;
    const args = ["--cert-file", certFile, "--key-file", keyFile, "--policy-timeout", "10"];
    await stage.open({ policies: file, ca, args });
    const { url } = stage.server;
    const common = { seconds: stage.seconds, ca, perConnection: 50 };
    const small = readFileSync(join(ROOT, "policies/privileged-pods/policy.wasm"));
    const change = async (): Promise<void> => {
      const end = performance.now() + stage.seconds * 1000;
      for (let round = 1; performance.now() + CHANGE_EVERY_MS < end; round++) {
        await sleep(CHANGE_EVERY_MS);
        tls.install(tls.issue(`server ${round}`), ...(round % 2 === 0 ? [tls.issue("another")] : []));
        // With a module that no round before has had: to read it takes a second.
        const large = join(stage.folder, "large.wasm");
        writeFileSync(large, largeModule(small, LARGE_MODULE_BYTES, `round ${round}`));
        const added = `${extra(round)}large: { module: ${large} }\n`;
        writeFileSync(file, round % 2 === 0 ? "rule: {" : `${soakPolicies(ROOT)}${added}`);
      }
    };
    let reports: Awaited<ReturnType<typeof soak>>[] = [];
    await stage.phase("storm", async () => {
      [...reports] = (
        await Promise.all([
          soak(url, EXCHANGES, { ...common, clients: MIXED_CLIENTS }),
          soak(url, [LOOPING], { ...common, clients: 1 }),
          change(),
        ])
      ).flatMap((report) => report ?? []);
    });
    const total = reports.reduce((sum, { requests }) => sum + requests, 0);
    for (const { wrong } of reports) for (const text of wrong) stage.breach(`mixed traffic: ${text}`);
    const [reloads, rotations, kept] = ["reloaded policies", "TLS certificates reloaded", "reload kept out"].map(
      (text) => stage.server.logged(text),
    );
    stage.expect((reloads ?? 0) > 0 && (rotations ?? 0) > 0, "nothing was reloaded or rotated");
    stage.note(
      `${total} mixed requests; ${reloads} reloads taken and ${kept} kept out, ${rotations} rotations, by processes`,
    );
    await stage.aftermath();
    await stage.close();
  },
};

/** The wall clock jumps by hours and years, and the whole machine is suspended for a while. */
export const clock: Scenario = {
  name: "clock",
  what: "the wall clock jumps, and all processes are suspended for longer than silence is borne",
  async play(stage) {
    const tls = tlsFolder();
    const file = join(stage.folder, "policies.yaml");
    const shift = join(stage.folder, "shift");
    writeFileSync(file, knownPolicies(ROOT));
    await stage.open({
      policies: file,
      ca: tls.authority.pem,
      args: ["--cert-file", tls.certFile, "--key-file", tls.keyFile],
      env: { SHIFT_CLOCK_FILE: shift },
      preload: ["shift-clock.js"],
      patience: 2 * SUSPENDED_SECONDS * 1000,
    });
    const jumps = [3_600_000, -3_600_000, 20 * YEAR_MS, -20 * YEAR_MS, 0];
    await stage.phase("jumps", async () => {
      for (const [round, jump] of jumps.entries()) {
        writeFileSync(shift, `${jump}`);
        await sleep((stage.seconds * 1000) / jumps.length / 2);
        writeFileSync(file, `${knownPolicies(ROOT)}${extra(round)}`);
        tls.install(tls.issue(`server ${round}`));
        await sleep((stage.seconds * 1000) / jumps.length / 2);
      }
    });
    await stage.phase(
      "suspended",
      async () => {
        stage.server.signalAll("SIGSTOP");
        await sleep(SUSPENDED_SECONDS * 1000);
        stage.server.signalAll("SIGCONT");
        await sleep(3000);
      },
      { late: true, failed: UNDER_WAY, turnedAway: true },
    );
    const metrics = (await stage.server.metrics()) ?? "";
    stage.expect(sumOf(metrics, "policy_server_processes_replaced_total") === 0, "a process was replaced");
    stage.expect(stage.server.logged("hangs") === 0, "a process was taken for hung");
    stage.note(`${sumOf(metrics, "policy_server_reloads_total")} reloads while the clock jumped`);
    await stage.aftermath();
    await stage.close();
  },
};

/** Nothing can be written: neither the log, nor whole files of policies and certificates. */
export const disk: Scenario = {
  name: "disk",
  what: "output goes to a full disk, and policies and certificates are cut off in the middle",
  async play(stage) {
    const tls = tlsFolder();
    const file = join(stage.folder, "policies.yaml");
    const whole = knownPolicies(ROOT);
    writeFileSync(file, whole);
    await stage.open({
      policies: file,
      ca: tls.authority.pem,
      args: ["--cert-file", tls.certFile, "--key-file", tls.keyFile],
      output: { file: "/dev/full" },
    });
    const reloads = async (result: string): Promise<number> =>
      sumOf(
        ((await stage.server.metrics()) ?? "").replaceAll(`{result="${result}"}`, "_this"),
        "policy_server_reloads_total_this",
      );
    await stage.phase("truncated", async () => {
      const pair = tls.issue("cut off");
      tls.install({ ...pair, pem: pair.pem.slice(0, pair.pem.length / 2) });
      writeFileSync(file, whole.slice(0, whole.indexOf("containers.exists")));
      const kept = await stage.until(async () => (await reloads("rejected")) > 0, IN_FORCE_WITHIN_MS);
      stage.expect(kept, "half of the policies were not refused");
      writeFileSync(file, "");
      tls.install({ ...pair, keyPem: "" });
      await sleep((stage.seconds * 1000) / 2);
    });
    stage.expect((await reloads("applied")) === 0, "an empty file of policies was taken");
    await stage.reconnect();
    await stage.phase("fresh", async () => sleep(2000));
    await stage.phase("mended", async () => {
      writeFileSync(file, `${whole}${extra(1)}`);
      tls.install(tls.issue("mended"));
      const applied = await stage.until(async () => (await reloads("applied")) > 0, IN_FORCE_WITHIN_MS);
      stage.expect(applied, "the mended policies were not taken");
    });
    const dropped = sumOf((await stage.server.metrics()) ?? "", "policy_server_log_lines_dropped");
    stage.expect(dropped > 0, "lines that could not be written are not counted");
    stage.note(`${dropped} log lines could not be written`);
    await stage.aftermath();
    await stage.close();
  },
};

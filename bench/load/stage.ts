/** What every scenario is played on: a server, honest traffic beside it, breaches and notes, and a broom. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Honest } from "../support/honest.js";
import type { PhaseReport } from "../support/honest-messages.js";
import { type ServerOptions, ServerUnderTest } from "../support/server.js";

/** Processes that serve, unless a scenario wants others. */
const PROCESSES = 2;
/** Seconds and clients of the phase that finds out what the server can do. */
const CAPACITY_SECONDS = 3;
const CAPACITY_CLIENTS = 16;
/** Part of its capacity that honest clients use. */
const HONEST_SHARE = 0.1;
/** Least and most honest requests a second: enough for a p99, and no more than one generator can send on time. */
const RATES = [50, 500] as const;
/** Seconds without disturbance, before and after. */
const CALM_SECONDS = 5;
/** The bar of the honest p99 in milliseconds, and how many times the undisturbed one is as good: whatever is larger. */
const P99_BAR_MS = 100;
const CALM_TIMES = 3;
/** What a request may hold the main thread, in milliseconds. */
const MAX_HOLD_MS = 100;
/** Processes that want to run, for each processor, from which times say nothing about the server. */
const CROWDED = 3;
/** How long an orderly stop may take, beyond what a scenario grants requests under way. */
const STOP_WITHIN_MS = 15_000;

/** The checkout. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

/** What honest clients may meet in a phase without it being a breach. */
export interface Allowed {
  /** Requests that may be lost on open connections; default none. */
  readonly lost?: number;
  /** Whether new connections may be refused for a while. */
  readonly refused?: boolean;
  /** Whether requests may be turned away (429, 500, 503). */
  readonly turnedAway?: boolean;
  /** Denials because a policy could not decide in time; default none. */
  readonly failed?: number;
  /** Whether nothing is asked of the p99, because all was stopped on purpose. */
  readonly late?: boolean;
}

/** How a scenario sets the stage. */
export interface Setting extends Omit<ServerOptions, "args"> {
  readonly policies: string;
  readonly args?: readonly string[];
  readonly ca?: string;
  /** Milliseconds after which an honest request is lost. */
  readonly patience?: number;
  readonly processes?: number;
  /** Files of `bench/support` that the server's processes load first. */
  readonly preload?: readonly string[];
}

/** A phase as the table shows it. */
export interface Played extends PhaseReport {
  /** Longest time that a process computed on its main thread at a stretch, in milliseconds. */
  readonly hold: number;
}

/** One scenario's stage. */
export class Stage {
  /** Seconds that the disturbance goes on. */
  readonly seconds: number;
  /** A folder for whatever the scenario writes. */
  readonly folder = mkdtempSync(join(tmpdir(), "load-"));
  readonly #holds = join(this.folder, "holds");
  readonly breaches: string[] = [];
  readonly notes: string[] = [];
  readonly phases: Played[] = [];
  /** Requests a second that the server answered at most. */
  capacity = 0;
  /** Requests with which that was found out. */
  warmedUp = 0;
  #server: ServerUnderTest | undefined;
  #honest: Honest | undefined;
  #rate = 0;
  #calm: PhaseReport | undefined;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** The server, once it was started. */
  get server(): ServerUnderTest {
    if (this.#server === undefined) throw new Error("no server was started");
    return this.#server;
  }

  /** Starts the server, finds its capacity, and looks at honest traffic while nothing disturbs it. */
  async open(setting: Setting): Promise<void> {
    const { policies, args = [], ca, patience, processes = PROCESSES, preload = [], env, ...options } = setting;
    mkdirSync(this.#holds);
    const imports = ["hold-meter.js", ...preload].map(
      (file) => `--import=${new URL(`../support/${file}`, import.meta.url).href}`,
    );
    const measured = { ...env, NODE_OPTIONS: imports.join(" "), HOLD_FOLDER: this.#holds };
    const common = ["--policies", policies, "--log-fmt", "json", "--workers", `${processes}`];
    this.#server = await ServerUnderTest.start({
      ...options,
      env: measured,
      args: [...common, ...args],
      tls: ca !== undefined,
    });
    const clients = { url: this.#server.url, ...(ca && { ca }), ...(patience && { patience }) };
    this.#honest = await Honest.start(clients);
    await this.#honest.begin({ name: "capacity", rate: 0, clients: CAPACITY_CLIENTS });
    await sleep(CAPACITY_SECONDS * 1000);
    const capacity = await this.#honest.begin({ name: "pause", rate: 0 });
    this.warmedUp = capacity?.requests ?? 0;
    this.capacity = this.warmedUp / CAPACITY_SECONDS;
    this.#rate = Math.min(RATES[1], Math.max(RATES[0], this.capacity * HONEST_SHARE));
    this.#calm = await this.phase("calm", async () => sleep(CALM_SECONDS * 1000), { late: true });
  }

  /** Honest traffic while something happens; judged. */
  async phase(name: string, happens: () => Promise<unknown>, allowed: Allowed = {}): Promise<PhaseReport> {
    if (this.#honest === undefined) throw new Error("the stage is not open");
    // One by one: processes make them anew at any time.
    for (const file of readdirSync(this.#holds)) rmSync(join(this.#holds, file), { force: true });
    await this.#honest.begin({ name, rate: this.#rate });
    let report: PhaseReport | undefined;
    try {
      await happens();
    } finally {
      report = await this.#honest.begin({ name: "pause", rate: 0 });
    }
    if (report === undefined) throw new Error("honest clients have nothing to report");
    const holds = readdirSync(this.#holds).map((file) => Number(readFileSync(join(this.#holds, file), "utf8")));
    const played = { ...report, hold: Math.max(...holds, 0) };
    this.phases.push(played);
    this.#judge(played, allowed);
    return played;
  }

  /** Honest clients give up the connections that they have. */
  async reconnect(): Promise<void> {
    await this.#honest?.begin({ name: "pause", rate: 0, fresh: true });
  }

  /** Honest traffic on new connections after all is over: nothing may be lost any more. */
  async aftermath(): Promise<void> {
    await this.reconnect();
    await this.phase("after", async () => sleep(CALM_SECONDS * 1000));
  }

  /** Stops the server, which must end in order. */
  async close(within = STOP_WITHIN_MS): Promise<void> {
    await this.#honest?.end();
    const code = await this.server.stop(within);
    if (code === undefined) {
      const left = this.server.workers().map((pid) => `${pid} with ${this.server.connectionsOf(pid)} connections`);
      this.breach(`did not stop within ${within / 1000} s; left: ${left.join(", ") || "nobody but the primary"}`);
      for (const line of this.server.lastLines(5)) this.note(line);
    }
    if (typeof code === "number" && code !== 0) this.breach(`ended with exit code ${code}`);
  }

  /** Notes something that must not be. */
  breach(text: string): void {
    this.breaches.push(text);
  }

  /** Notes something worth reading. */
  note(text: string): void {
    this.notes.push(text);
  }

  /** A breach unless it holds. */
  expect(holds: boolean, text: string): void {
    if (!holds) this.breach(text);
  }

  /** Waits until something holds; false when it doesn't within so many milliseconds. */
  async until(holds: () => boolean | Promise<boolean>, within: number): Promise<boolean> {
    const end = performance.now() + within;
    while (!(await holds())) {
      if (performance.now() > end) return false;
      await sleep(100);
    }
    return true;
  }

  /** Leaves nothing behind: no process, no file. */
  clear(): void {
    this.#honest?.kill();
    this.#server?.kill();
    // Processes that have just been killed may write a last time.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #judge(report: Played, { lost = 0, refused, turnedAway, failed = 0, late }: Allowed): void {
    const { name, p99, referenceP99 } = report;
    const breach = (count: number, what: string): void => {
      if (count > 0) this.breach(`${name}: ${count} of ${report.requests} honest requests ${what}`);
    };
    breach(report.wrong, `answered wrongly: ${report.examples[0]}`);
    breach(report.unanswered, "never answered");
    if (report.lost > lost) breach(report.lost, `lost on open connections; ${lost} may be`);
    if (!refused) breach(report.refused, "refused a connection");
    if (!turnedAway) breach(report.turnedAway, `turned away: ${report.examples[0]}`);
    if (report.failed > failed) breach(report.failed, `denied for failures: ${report.examples[0]}`);
    if (late) return;
    // What the bare server was late by was the machine, or the generator.
    const own = p99 - referenceP99;
    const bar = Math.max(P99_BAR_MS, CALM_TIMES * (this.#calm?.p99 ?? 0));
    if (own <= bar) return;
    const kinds = report.kinds.map((kind) => `${kind.name} ${kind.p50.toFixed(0)}/${kind.p99.toFixed(0)}`).join(", ");
    const words = `${name}: honest p99 is ${own.toFixed(0)} ms beyond the bare server's; the bar is ${bar.toFixed(0)} ms (longest hold ${report.hold.toFixed(0)} ms; p50/p99: ${kinds})`;
    // On a machine with far more to run than processors, a server whose main threads were never held waited for others' processes.
    if (report.hold <= MAX_HOLD_MS && (loadavg()[0] ?? 0) > CROWDED * cpus().length)
      this.note(`not judged, the machine is crowded: ${words}`);
    else this.breach(words);
  }
}

/** Something that goes wrong on purpose, beside honest traffic. */
export interface Scenario {
  readonly name: string;
  /** What happens, in a few words. */
  readonly what: string;
  play(stage: Stage): Promise<void>;
}

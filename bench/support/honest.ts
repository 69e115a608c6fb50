/** Honest clients beside whatever a scenario does: starts their process, changes its phases, takes their reports. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/example-server.js";
import type { FromHonest, HonestOptions, Phase, PhaseReport, ToHonest } from "./honest-messages.js";

const client = fileURLToPath(new URL("honest-client.js", import.meta.url));
const bare = fileURLToPath(new URL("bare-server.js", import.meta.url));
/** Milliseconds after which a request is lost: the API server's default patience with a webhook. */
const PATIENCE_MS = 10_000;

/** Honest clients of one server. */
export class Honest {
  readonly #client: ChildProcess;
  readonly #reference: ChildProcess;
  #inPhase = false;

  private constructor(client: ChildProcess, reference: ChildProcess) {
    this.#client = client;
    this.#reference = reference;
  }

  /** Starts the clients, and the bare server that they ask beside. They send nothing yet. */
  static async start(options: Omit<HonestOptions, "reference" | "patience"> & { patience?: number }): Promise<Honest> {
    const port = await freePort();
    const reference = fork(bare, [`${port}`], { stdio: "ignore" });
    const all: HonestOptions = { patience: PATIENCE_MS, ...options, reference: `http://127.0.0.1:${port}` };
    return new Honest(
      fork(client, [JSON.stringify(all)], { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
      reference,
    );
  }

  /** Ends the phase before, and begins this one. Resolves with what the one before came to. */
  async begin(phase: Phase): Promise<PhaseReport | undefined> {
    return this.#change({ type: "phase", phase }, true);
  }

  /** Ends the last phase, and the clients. */
  async end(): Promise<PhaseReport | undefined> {
    const report = await this.#change({ type: "end" }, false);
    this.kill();
    return report;
  }

  /** Ends the processes at once. */
  kill(): void {
    this.#client.kill("SIGKILL");
    this.#reference.kill("SIGKILL");
  }

  async #change(message: ToHonest, inPhase: boolean): Promise<PhaseReport | undefined> {
    const reported = this.#inPhase ? (once(this.#client, "message") as Promise<[FromHonest]>) : undefined;
    this.#inPhase = inPhase;
    this.#client.send(message);
    return (await reported)?.[0].report;
  }
}

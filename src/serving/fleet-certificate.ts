/** Passes the certificate of a Secret to all serving processes, present and future. */
import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { Logger } from "../telemetry/logger.js";
import type { Child, Fleet } from "./fleet.js";

/** Longest time until a process serves a certificate: it takes milliseconds, but its main thread may be loading policies. */
const SECURE_WITHIN_MS = 60_000;

/** Holds the newest certificate. */
export class FleetCertificate {
  readonly #fleet: Pick<Fleet, "ask" | "tell" | "serving">;
  readonly #logger: Logger;
  #pair: CertificatePair | undefined;

  constructor(fleet: Pick<Fleet, "ask" | "tell" | "serving">, logger: Logger) {
    this.#fleet = fleet;
    this.#logger = logger;
  }

  /** Makes all processes serve it. Resolves when they do; a process that does not answer is treated as one that hangs, and will be replaced. */
  async secure(pair: CertificatePair): Promise<void> {
    this.#pair = pair;
    const { serving } = this.#fleet;
    const answers = await this.#fleet.ask(serving, SECURE_WITHIN_MS, (id) => ({ type: "secure", id, pair }));
    const late = [...answers.values()].filter((answer) => answer === "late").length;
    if (late > 0) this.#logger.error("not all processes serve the new certificate", { late });
  }

  /** Sends the certificate to a process that starts, or has started meanwhile. */
  tell(child: Child): void {
    this.#fleet.tell(child, { type: "secure", ...(this.#pair && { pair: this.#pair }) });
  }
}

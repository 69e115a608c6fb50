/** Hands the certificate of a Secret to all processes that answer requests: those that are there, and those that come. */
import type { CertificatePair } from "../cluster/certificates/certificates.js";
import type { Logger } from "../telemetry/logger.js";
import type { Child, Fleet } from "./fleet.js";

/** How long a process may take to serve a certificate: it is a matter of milliseconds, but its main thread may be loading policies. */
const SECURE_WITHIN_MS = 60_000;

/** Knows the newest certificate. */
export class FleetCertificate {
  readonly #fleet: Pick<Fleet, "ask" | "tell" | "serving">;
  readonly #logger: Logger;
  #pair: CertificatePair | undefined;

  constructor(fleet: Pick<Fleet, "ask" | "tell" | "serving">, logger: Logger) {
    this.#fleet = fleet;
    this.#logger = logger;
  }

  /** Has all processes serve it. Resolves when they do; one that does not answer is no better than one that hangs, and will be replaced as such. */
  async secure(pair: CertificatePair): Promise<void> {
    this.#pair = pair;
    const { serving } = this.#fleet;
    const answers = await this.#fleet.ask(serving, SECURE_WITHIN_MS, (id) => ({ type: "secure", id, pair }));
    const late = [...answers.values()].filter((answer) => answer === "late").length;
    if (late > 0) this.#logger.error("not all processes serve the new certificate", { late });
  }

  /** Tells a process that begins, or has begun meanwhile, what there is. */
  tell(child: Child): void {
    this.#fleet.tell(child, { type: "secure", ...(this.#pair && { pair: this.#pair }) });
  }
}

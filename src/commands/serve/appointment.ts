import type { Child } from "./fleet.js";

/** Which one of the serving processes approves CertificateRequests: the first that serves, and when it ends, another. */
export class Appointment {
  readonly #appoint: (child: Child) => void;
  #appointed: Child | undefined;

  /** @param appoint tells a process that it approves from now on, until it ends */
  constructor(appoint: (child: Child) => void) {
    this.#appoint = appoint;
  }

  /** A process has begun to serve. */
  serving(child: Child): void {
    if (this.#appointed !== undefined) return;
    this.#appointed = child;
    this.#appoint(child);
  }

  /**
   * A process has ended, so that it approves no more.
   * @param others that serve
   */
  ended(child: Child, others: readonly Child[]): void {
    if (this.#appointed !== child) return;
    this.#appointed = undefined;
    const [successor] = others;
    if (successor !== undefined) this.serving(successor);
  }
}

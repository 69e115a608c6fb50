import type { Child } from "./fleet.js";

/** Which one of the serving processes approves CertificateRequests: the first that serves what all serve, and when it ends, another. */
export class ApproverChoice {
  readonly #appoint: (child: Child) => void;
  #appointed: Child | undefined;

  /** @param appoint tells a process that it approves from now on, until it ends */
  constructor(appoint: (child: Child) => void) {
    this.#appoint = appoint;
  }

  /**
   * Appoints the first of these when nobody is appointed.
   * @param able to approve as all serving processes would
   */
  among([child]: readonly Child[]): void {
    if (this.#appointed !== undefined || child === undefined) return;
    this.#appointed = child;
    this.#appoint(child);
  }

  /**
   * A process has ended, so that it approves no more.
   * @param others that are able to
   */
  ended(child: Child, others: readonly Child[]): void {
    if (this.#appointed !== child) return;
    this.#appointed = undefined;
    this.among(others);
  }
}

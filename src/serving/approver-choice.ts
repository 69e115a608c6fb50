import type { Child } from "./fleet.js";

/** Chooses the serving process that approves CertificateRequests: the first one with the policies of all, and when it ends, another. */
export class ApproverChoice {
  readonly #appoint: (child: Child) => void;
  #appointed: Child | undefined;

  /** @param appoint tells a process that it approves from now on, until it ends */
  constructor(appoint: (child: Child) => void) {
    this.#appoint = appoint;
  }

  /**
   * Appoints the first of these when none is appointed.
   * @param processes that serve the policies of all
   */
  among([child]: readonly Child[]): void {
    if (this.#appointed !== undefined || child === undefined) return;
    this.#appointed = child;
    this.#appoint(child);
  }

  /**
   * Notes the end of a process, which no longer approves.
   * @param others that can take its place
   */
  ended(child: Child, others: readonly Child[]): void {
    if (this.#appointed !== child) return;
    this.#appointed = undefined;
    this.among(others);
  }
}

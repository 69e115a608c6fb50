import { MARK } from "./mark.js";

/**
 * An error of evaluation, as a value: functions return it, operators pass it on, and `&&`, `||`, `all` and `exists` may absorb it
 * (spec kubernetes-cel.md 2.8). It is not a JavaScript Error: it costs no stack trace.
 */
export class CelError {
  get [MARK](): true {
    return true;
  }

  /** @param message the exact text, as the reference implementation says it */
  constructor(readonly message: string) {}

  toString(): string {
    return this.message;
  }
}

/** The error for arguments that no overload takes. */
export const noSuchOverload = (detail?: string): CelError =>
  new CelError(detail === undefined ? "no such overload" : `no such overload: ${detail}`);

import { MARK } from "./mark.js";

/** What kind of error it is: what a program may go by, where people read the message. */
export type CelErrorCode =
  /** No overload takes these arguments. */
  | "no-such-overload"
  /** A variable that the bindings have not. */
  | "no-such-attribute"
  /** A field or key that is not there. */
  | "no-such-key"
  | "index-out-of-bounds"
  /** By zero, `%` too. */
  | "division-by-zero"
  /** Beyond the range of int, uint, duration or timestamp. */
  | "overflow"
  /** A text that does not spell a value of the wanted type. */
  | "conversion"
  /** The deadline passed, or nobody waits any more. */
  | "interrupted"
  /** The cost limit was exceeded. */
  | "cost-limit"
  | "too-large"
  /** An answer that has to be awaited, where nobody waits. */
  | "waiting"
  /** More different calls than `evaluateAsync` was allowed. */
  | "call-limit"
  /** A bound of the engine, or something thrown by a function of one's own. */
  | "internal"
  /** What a function says of its arguments, those of one's own included. */
  | "other";

/**
 * An error of evaluation, as a value: functions return it, operators pass it on, and `&&`, `||`, `all` and `exists` may absorb it
 * (spec kubernetes-cel.md 2.8). It is not a JavaScript Error: it costs no stack trace.
 */
export class CelError {
  get [MARK](): true {
    return true;
  }

  /** @param message the exact text, as the reference implementation says it */
  constructor(
    readonly message: string,
    readonly code: CelErrorCode = "other",
  ) {}

  toString(): string {
    return this.message;
  }
}

/** The error for arguments that no overload takes. */
export const noSuchOverload = (detail?: string): CelError =>
  new CelError(detail === undefined ? "no such overload" : `no such overload: ${detail}`, "no-such-overload");

/** The error of an evaluation that ran out of time, or that nobody waits for any more. */
export const interrupted = (): CelError => new CelError("operation interrupted", "interrupted");

/** The error of what should not have been thrown, whatever that is. */
export function internalError(thrown: unknown): CelError {
  let text: string;
  try {
    text = String(thrown);
  } catch {
    text = "something was thrown that has no text";
  }
  return new CelError(`internal error: ${text}`, "internal");
}

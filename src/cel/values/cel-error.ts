import { MARK } from "./mark.js";

/** The kind of an error: for programs, where people read the message. */
export type CelErrorCode =
  /** No overload takes these arguments. */
  | "no-such-overload"
  /** A variable without a binding. */
  | "no-such-attribute"
  /** A field or key that does not exist. */
  | "no-such-key"
  | "index-out-of-bounds"
  /** By zero, `%` too. */
  | "division-by-zero"
  /** Beyond the range of int, uint, duration or timestamp. */
  | "overflow"
  /** A text that does not spell a value of the wanted type. */
  | "conversion"
  /** The deadline has passed, or the caller waits no longer. */
  | "interrupted"
  /** The cost limit was exceeded. */
  | "cost-limit"
  | "too-large"
  /** An answer that has to be awaited, in an evaluation that does not wait. */
  | "waiting"
  /** More different calls than `evaluateAsync` was allowed. */
  | "call-limit"
  /** A limit of the engine, or an exception of an added function. */
  | "internal"
  /** An error of a function about its arguments, of added functions included. */
  | "other";

/**
 * An error of evaluation, as a value: functions return it, operators pass it on, and `&&`, `||`, `all` and `exists` may absorb it
 * (spec kubernetes-cel.md 2.8). It is not a JavaScript Error: it costs no stack trace.
 */
export class CelError {
  get [MARK](): true {
    return true;
  }

  /** @param message the exact text of the reference implementation */
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

/** The error of an evaluation that ran out of time, or whose caller waits no longer. */
export const interrupted = (): CelError => new CelError("operation interrupted", "interrupted");

/** The error for an unexpected exception. */
export function internalError(thrown: unknown): CelError {
  let text: string;
  try {
    text = String(thrown);
  } catch {
    text = "something was thrown that has no text";
  }
  return new CelError(`internal error: ${text}`, "internal");
}

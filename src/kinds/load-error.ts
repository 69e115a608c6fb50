import type { Problem } from "../config/documents/problem.js";

/**
 * The error of an entry that cannot become a policy. `problems` say where and why for the operator; the message goes to clients and names no files and
 * addresses.
 */
export class LoadError extends Error {
  readonly code = "POLICY_LOAD";
  /** The whole reason where it is longer than the message, for the log only. */
  readonly detail: string | undefined;

  constructor(
    message: string,
    readonly problems: readonly Problem[],
    { detail, ...options }: ErrorOptions & { readonly detail?: string } = {},
  ) {
    super(message, options);
    this.name = "LoadError";
    this.detail = detail;
  }

  /** The error of a policy with mistakes; its message is the first line of the first one. */
  static of(problems: readonly Problem[]): LoadError {
    return new LoadError(`the policy is invalid: ${problems[0]?.message.split("\n")[0] ?? ""}`, problems);
  }
}

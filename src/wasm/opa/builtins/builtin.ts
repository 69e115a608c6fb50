/**
 * A builtin of Rego: values of `rego-value` in and out.
 * @throws what the arguments do wrong; the evaluation fails with it
 */
export type Builtin = (...parameters: unknown[]) => unknown;

/** What builtins get from their host. */
export interface BuiltinEnvironment {
  readonly trace: (text: string) => void;
  /** Milliseconds since 1970. Within one evaluation time stands still. */
  readonly now: () => number;
}

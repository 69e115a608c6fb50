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
  /** Told of what is done that the operands' length says nothing about, in about as many units as bytes. Throws when the time of the call is up. */
  readonly work: (units: number) => void;
}

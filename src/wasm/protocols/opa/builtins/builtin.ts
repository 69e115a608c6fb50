/**
 * A builtin of Rego: its arguments and result are values of `rego-value`.
 * @throws an error about the arguments, with which the evaluation fails
 */
export type Builtin = (...parameters: unknown[]) => unknown;

/** The host's environment of builtins. */
export interface BuiltinEnvironment {
  readonly trace: (text: string) => void;
  /** Milliseconds since 1970. Within one evaluation time stands still. */
  readonly now: () => number;
  /** Charges work that does not follow from the operands' length, about one unit a byte. Throws when the time of the call is up. */
  readonly work: (units: number) => void;
}

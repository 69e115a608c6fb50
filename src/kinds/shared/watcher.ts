/** Observes evaluations from outside: a watcher gets programs and policies when they are made, so that evaluation itself knows nothing of it. */
import type { Program } from "../../cel/index.js";
import type { Policy } from "../../policy/policy.js";
import type { ExpressionProgram } from "./expressions/expression.js";

/** Watches what is loaded together. Optional methods may be absent. */
export interface Watcher {
  /** The program to use in place of one that was compiled with `trace`; called for every place of an expression, also where the text is the same. */
  watch(program: Program): ExpressionProgram;
  /** The policy to use as a group's member. */
  member?(group: string, name: string, policy: Policy): Policy;
  /**
   * Receives the result of a policy, or of its variant, in the current evaluation, where no value of an expression shows it. The text of the
   * latest attempt counts.
   */
  found?(part: object, text: string): void;
}

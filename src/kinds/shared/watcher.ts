/** Those who watch evaluations from outside: they get programs and policies as these are made, so that evaluation itself knows nothing of them. */
import type { Program } from "../../cel/index.js";
import type { Policy } from "../../policy/policy.js";
import type { ExpressionProgram } from "./expressions/expression.js";

/** Watches what is loaded together. What it may leave out it does not ask for. */
export interface Watcher {
  /** The program to use in place of one that was compiled with `trace`; asked for every place of an expression, also where the text is the same. */
  watch(program: Program): ExpressionProgram;
  /** The policy to ask as a group's member. */
  member?(group: string, name: string, policy: Policy): Policy;
  /**
   * Told what became of a policy, or of its variant, in the evaluation that is under way: what no value of an expression tells. What is said in a
   * later attempt counts.
   */
  found?(part: object, text: string): void;
}

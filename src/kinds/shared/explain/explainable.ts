/** What can be explained: policies that say their expressions. */
import type { Expression } from "../expressions/expression.js";

/** An expression, and where it stands. */
export interface PlacedExpression {
  /** `spec.validations[0].expression` */
  readonly path: string;
  /** Of a match condition or a variable, or the key of an annotation. */
  readonly name?: string | undefined;
  readonly expression: Pick<Expression, "source" | "program" | "error">;
}

/** A policy as it was written, or made of it for other kinds. */
export interface ExplainedVariant {
  /** That a {@link Watcher} is told about. */
  readonly part: object;
  /** For objects of a kind: `for Deployments (autogen)`; absent: as it was written. */
  label?(kind: string): string;
  readonly expressions: readonly PlacedExpression[];
}

/** One policy of those that are asked together. */
export interface ExplainedPolicy {
  /** `ValidatingAdmissionPolicy 'replicas'`; `""` for one that has no name beside its entry's. */
  readonly title: string;
  /** Of several at most one is evaluated. */
  readonly variants: readonly ExplainedVariant[];
}

/** What can say of which policies and expressions it is made: policies of CEL kinds do. */
export interface Explainable {
  explained(): readonly ExplainedPolicy[];
}

/** Whether something, such as a policy, is {@link Explainable}. */
export const isExplainable = <T extends object>(thing: T): thing is T & Explainable =>
  "explained" in thing && typeof thing.explained === "function";

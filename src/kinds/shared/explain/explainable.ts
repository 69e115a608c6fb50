/** Objects that can be explained: policies that list their expressions. */
import type { Expression } from "../expressions/expression.js";

/** An expression at its place. */
export interface PlacedExpression {
  /** `spec.validations[0].expression` */
  readonly path: string;
  /** The name of a match condition or a variable, or the key of an annotation. */
  readonly name?: string | undefined;
  readonly expression: Pick<Expression, "source" | "program" | "error">;
}

/** A policy as it was written, or its variant for other kinds. */
export interface ExplainedVariant {
  /** The object that a {@link Watcher} gets results of. */
  readonly part: object;
  /** For objects of a kind: `for Deployments (autogen)`; absent: as it was written. */
  label?(kind: string): string;
  readonly expressions: readonly PlacedExpression[];
}

/** One of several policies that are evaluated together. */
export interface ExplainedPolicy {
  /** `ValidatingAdmissionPolicy 'replicas'`; `""` for one without a name beside its entry's. */
  readonly title: string;
  /** The variants, of which at most one is evaluated. */
  readonly variants: readonly ExplainedVariant[];
}

/** An object that lists its policies and expressions: policies of CEL kinds do. */
export interface Explainable {
  explained(): readonly ExplainedPolicy[];
}

/** Whether an object, such as a policy, is {@link Explainable}. */
export const isExplainable = <T extends object>(thing: T): thing is T & Explainable =>
  "explained" in thing && typeof thing.explained === "function";

/** Compiled policies: the written one, and those derived from it for pod controllers (spec kyverno.md 3). */
import type { Expression } from "../shared/expressions/expression.js";
import type { PreparedMatch } from "../shared/match/match-resources.js";
import type { CompiledMutation } from "../shared/mutation/compile-mutation.js";
import type { CompiledImages } from "./image-validating/compiled-images.js";
import type { OldRuleOrigin } from "./old-rule-origin.js";
import type { ExceptionResource, PolicyResource, PolicySpec } from "./resource.js";

/** The name of a variant; `""` for the policy as it was written. */
export type VariantName = "" | "cronjobs" | "defaults" | "extract";

/** A kind of objects that a variant matches. */
export interface Target {
  readonly group: string;
  readonly version: string;
  /** The plural. */
  readonly resource: string;
  readonly kind: string;
}

/** One validation. */
export interface CompiledValidation {
  readonly expression: Expression;
  readonly message: string;
  readonly messageExpression: Expression | undefined;
}

/** One mutation. */
export interface PolicyMutation extends CompiledMutation {
  /** Its index among those that are written. */
  readonly at: number;
}

/** An exception that names the policy. */
export interface CompiledException {
  readonly resource: ExceptionResource;
  readonly conditions: readonly Expression[];
  /** Milliseconds since 1970; Infinity for never. */
  readonly expires: number;
}

/** The policy, or one of its variants: each is evaluated for itself, and at most one matches a request. */
export interface CompiledVariant {
  readonly name: VariantName;
  /** The kinds that the variant matches; empty for the base. */
  readonly targets: readonly Target[];
  readonly policy: PolicyResource;
  /** The spec of this variant. */
  readonly spec: PolicySpec;
  readonly mode: "Kubernetes" | "JSON";
  readonly failurePolicy: "Fail" | "Ignore";
  /** `undefined`: never matches. */
  readonly match: PreparedMatch | undefined;
  readonly conditions: readonly Expression[];
  readonly variables: ReadonlyMap<string, Expression>;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly expression: Expression }[];
  /** Of a mutating policy, which has no validations. */
  readonly mutations: readonly PolicyMutation[];
  readonly exceptions: readonly CompiledException[];
  /** Of an ImageValidatingPolicy. */
  readonly images?: CompiledImages | undefined;
  /** Whether an expression names `namespaceObject`. */
  readonly namesNamespace: boolean;
}

/** A policy that can be evaluated. */
export interface CompiledPolicy {
  readonly resource: PolicyResource;
  /** The rule of an old policy that it was made of. */
  readonly origin?: OldRuleOrigin | undefined;
  /** Default `["Deny"]`; of a mutating policy none where its failurePolicy is Ignore. */
  readonly actions: readonly string[];
  /** The base, then `cronjobs`, `defaults`, `extract` as far as there are any. */
  readonly variants: readonly CompiledVariant[];
}

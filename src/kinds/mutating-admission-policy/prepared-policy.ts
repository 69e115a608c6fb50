/** Policies prepared for requests. */

import { compareNames } from "../../kubernetes/names.js";
import type { PreparedTarget } from "../admission-policy/prepared-binding.js";
import { type PreparedCommon, prepareCommon } from "../admission-policy/prepared-common.js";
import type { CompiledMutation } from "../shared/mutation/compile-mutation.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import type { PolicyResource } from "./resource.js";

/** A prepared policy with its bindings in order. Immutable. */
export interface PreparedPolicy extends PreparedCommon {
  /** The mutations with an expression; where one has none, the policy fails whatever its failurePolicy. */
  readonly mutations: readonly CompiledMutation[];
  /** Number of mutations as written. */
  readonly written: number;
  /** Whether it may be reinvoked when the object has changed. */
  readonly reinvocable: boolean;
  readonly bindings: readonly PreparedTarget[];
}

/** Prepares a policy. `undefined` when its paramKind cannot be read: such a policy never acts (spec validating-admission-policy.md 4.1). */
export function preparePolicy(
  policy: PolicyResource,
  compiled: CompiledPolicy,
  bindings: readonly PreparedTarget[],
  title: string,
): PreparedPolicy | undefined {
  const common = prepareCommon(policy, compiled, title);
  if (common === undefined) return undefined;
  const { mutations } = compiled;
  return {
    ...common,
    mutations: mutations.filter((mutation) => mutation !== undefined),
    written: mutations.length,
    reinvocable: policy.spec.reinvocationPolicy === "IfNeeded",
    bindings: [...bindings].sort((a, b) => compareNames(a.name ?? "", b.name ?? "")),
  };
}

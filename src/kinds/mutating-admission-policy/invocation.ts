/** Invocations for a request: policies, each with one of its bindings and one of the binding's parameters (spec mutating-admission-policy.md 2). */

import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import type { NO_PARAM } from "../admission-policy/params.js";
import type { PreparedTarget } from "../admission-policy/prepared-binding.js";
import type { Matched } from "../shared/match/match-rules.js";
import type { PreparedPolicy } from "./prepared-policy.js";

/** A policy that is to be evaluated. */
export interface Invocation {
  readonly policy: PreparedPolicy;
  readonly binding: PreparedTarget;
  /** The resource and kind by which the request matches the policy. */
  readonly matched: Matched;
  readonly param: JsonObject | typeof NO_PARAM;
}

/** The error of a policy. */
export interface PolicyError {
  readonly policy: PreparedPolicy;
  /** `undefined` when it was found before a binding was reached. */
  readonly binding: PreparedTarget | undefined;
  readonly message: string;
  /** `configuration`: the policy could not be evaluated; its reason is Forbidden, that of the others Invalid. */
  readonly kind: "configuration" | "evaluation";
}

/** The key of an invocation among those of a request, in both passes. */
export const keyOf = ({ policy, binding, param }: Invocation): string =>
  JSON.stringify([policy.name, binding.name, ...(param === null ? [] : [namespaceOf(param), nameOf(param)])]);

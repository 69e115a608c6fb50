/** Who is asked about a request: policies, each with one of its bindings and one of the parameters that this brings (spec mutating-admission-policy.md 2). */

import { type JsonObject, nameOf, namespaceOf } from "../../kubernetes/object.js";
import type { NO_PARAM } from "../admission-policy/params.js";
import type { PreparedTarget } from "../admission-policy/prepared-binding.js";
import type { Matched } from "../shared/match/match-rules.js";
import type { PreparedPolicy } from "./prepared-policy.js";

/** A policy that is to be asked. */
export interface Invocation {
  readonly policy: PreparedPolicy;
  readonly binding: PreparedTarget;
  /** As what the request is of interest to the policy. */
  readonly matched: Matched;
  readonly param: JsonObject | typeof NO_PARAM;
}

/** What went wrong with a policy. */
export interface PolicyError {
  readonly policy: PreparedPolicy;
  /** `undefined` when it was found before a binding was looked at. */
  readonly binding: PreparedTarget | undefined;
  readonly message: string;
  /** `configuration`: the policy could not be asked; its reason is Forbidden, that of the others Invalid. */
  readonly kind: "configuration" | "evaluation";
}

/** What tells an invocation from the others of a request, in both passes. */
export const keyOf = ({ policy, binding, param }: Invocation): string =>
  JSON.stringify([policy.name, binding.name, ...(param === null ? [] : [namespaceOf(param), nameOf(param)])]);

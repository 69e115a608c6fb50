import type { Failure, Policy } from "../policy/index.js";

/**
 * Takes the place of a policy that could not be loaded: its endpoint denies with 500 and the load error, even in monitor mode, and as a member of a
 * group it is an error, never an answer (spec kubewarden.md 3.6).
 */
export interface UnavailablePolicy extends Policy {
  readonly kind: "unavailable";
  /** The reason; names no files and addresses, as clients may read it. */
  readonly reason: string;
}

/**
 * @param id the policy's id
 * @param reason for clients and operators; names no files and addresses
 * @param detail the whole reason where that is longer, for the log
 */
export function createUnavailablePolicy(id: string, reason: string, detail?: string): UnavailablePolicy {
  const outcome: Failure = {
    verdict: "error",
    message: reason,
    code: 500,
    cause: "unavailable",
    final: true,
    ...(detail !== undefined && { detail }),
  };
  return {
    id,
    kind: "unavailable",
    implementation: "unavailable",
    immediate: true,
    reason,
    evaluate: () => outcome,
  };
}

/** Whether a policy stands in for one that could not be loaded. */
export const isUnavailable = (policy: Policy): policy is UnavailablePolicy => policy.kind === "unavailable";

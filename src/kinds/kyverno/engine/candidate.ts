import type { CompiledPolicy, CompiledVariant } from "../compiled-policy.js";

/** A policy with one of its variants. */
export interface Candidate {
  readonly policy: CompiledPolicy;
  readonly variant: CompiledVariant;
  /** Its index among all. */
  readonly index: number;
}

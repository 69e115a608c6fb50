import type { RequestWorld } from "../../world/request-world.js";

/** What functions of Kyverno's libraries get as the evaluation's state; one for every attempt at a request. */
export interface KyvernoState {
  readonly world: RequestWorld;
  /** The namespace that a NamespacedValidatingPolicy is confined to; `""` for a ValidatingPolicy. Set before each policy is evaluated. */
  namespace: string;
  /** The time of evaluation, in milliseconds since 1970: the same in all attempts. */
  readonly time: number;
  /** From 0 to below 1: the same row of numbers in every attempt at a request, another one for each request. */
  random(): number;
}

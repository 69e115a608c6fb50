import type { RequestWorld } from "../../world/request-world.js";
import type { ImageCalls } from "./image-validating/functions.js";

/** The state that functions of Kyverno's libraries get; one for every attempt at a request. */
export interface KyvernoState {
  readonly world: RequestWorld;
  /** The namespace that a NamespacedValidatingPolicy is confined to; `""` for a ValidatingPolicy. Set before each policy is evaluated. */
  namespace: string;
  /** The functions about signatures, of an ImageValidatingPolicy that is evaluated. Set before its expressions are. */
  images?: ImageCalls | undefined;
  /** The time of evaluation, in milliseconds since 1970: the same in all attempts. */
  readonly time: number;
  /** A random number from 0 to below 1: the same sequence in every attempt at a request, another one for each request. */
  random(): number;
}

import type { Result, Value, Waiting } from "../../cel/index.js";
import type { RequestWorld } from "../../world/request-world.js";

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

/** The answers to functions about signatures, for one evaluation of a policy. Arguments of expressions without static types may be anything. */
export interface ImageCalls {
  /** The number of attestors that have signed the image. */
  verifyImageSignatures(image: Value, attestors: Value): Result | Waiting;
  /** The number of attestors that have signed the attestation of this name about the image. */
  verifyAttestationSignatures(image: Value, attestation: Value, attestors: Value): Result | Waiting;
  /** The data of the image, as `image.GetMetadata` has it. */
  getImageData(image: Value): Result | Waiting;
  /** The content of an attestation that was verified before. */
  extractPayload(image: Value, attestation: Value): Result | Waiting;
}

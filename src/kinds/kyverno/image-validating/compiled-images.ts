/** The part of a compiled policy that only ImageValidatingPolicies have (spec kyverno.md 9). */
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import type { Attestor, ImageAccess, Sought } from "../../../world/images/image-trust.js";
import type { Expression } from "../../shared/expressions/expression.js";

/** An attestor as written, with the expressions whose values replace parts of it. */
export interface CompiledAttestor {
  readonly name: string;
  /** The attestor with these values. */
  readonly with: (values: readonly string[]) => Attestor;
  /** Each has a text. */
  readonly expressions: readonly Expression[];
  /** The places of the expressions in the policy. */
  readonly paths: readonly FieldPath[];
}

/** A glob over references. */
export interface ImageGlob {
  readonly glob: (image: string) => boolean;
  readonly text: string;
}

/** A rule of `matchImageReferences`: a glob, or an expression over `ref`. */
export type ImageMatcher = ImageGlob | { readonly expression: Expression };

/** Images, attestors and what is required of them. */
export interface CompiledImages {
  /** One of them must match; none: every image does. */
  readonly matchers: readonly ImageMatcher[];
  /** The policy's own extractors, by the name of their list in `images`; each gives a list of texts. */
  readonly extractors: ReadonlyMap<string, Expression>;
  readonly attestors: readonly CompiledAttestor[];
  readonly attestations: ReadonlyMap<string, Sought>;
  readonly access: ImageAccess;
  /** Whether tags are replaced by digests where the entry may change objects; default yes, as the others. */
  readonly mutateDigest: boolean;
  /** Whether each image must have a digest. */
  readonly verifyDigest: boolean;
  /** Whether each image must have passed the check of a signature or attestation, by any policy of the request. */
  readonly required: boolean;
  /** Names in expressions that are not declared. */
  readonly undeclared: readonly FieldError[];
}

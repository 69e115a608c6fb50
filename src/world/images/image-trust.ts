/** Questions about the signatures of images, and their answers (spec kyverno.md 9). */
import type { Attestor, AttestorVerdict, Sought } from "../../fetch/signatures/attestor.js";
import type { Eventual } from "../eventual.js";
import type { LookupFailure } from "../resources/resource-source.js";

export type { Attestor, AttestorVerdict, Sought } from "../../fetch/signatures/attestor.js";

/** The access to registries that a policy asks for. */
export interface ImageAccess {
  /** Whether registries may be asked without TLS. */
  readonly insecure?: boolean;
  /** Names of Secrets with log-ins, in the server's namespace. */
  readonly secrets?: readonly string[];
}

/** A question about one image and one attestor. */
export interface TrustQuestion {
  /** As written; its digest, or that of its tag at the time of the request. */
  readonly image: string;
  readonly attestor: Attestor;
  readonly sought: Sought;
  readonly access: ImageAccess;
}

/** A source of verdicts on images. A registry or trust root that can't be asked is a LookupFailure, never a verdict. */
export interface ImageTrust {
  /** The digest of an image, whose manifest is there. */
  digest(image: string, access: ImageAccess): Eventual<string | LookupFailure>;
  verdict(question: TrustQuestion): Eventual<AttestorVerdict | LookupFailure>;
  /** The content of the first artifact of a type that refers to an image, unverified. */
  artifact(image: string, artifactType: string, access: ImageAccess): Eventual<unknown>;
}

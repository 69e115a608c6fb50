/** The verdict of one attestor about one image (spec kyverno.md 9). */
import { FetchError } from "../fetch-error.js";
import type { ImageReference } from "../image-reference.js";
import type { Registry } from "../registry.js";
import type { Attestor, AttestorVerdict, Sought } from "./attestor.js";
import type { SignatureChecks } from "./signature-checks.js";

/** An image whose attestors are asked. */
export interface Attested {
  readonly registry: Registry;
  readonly image: ImageReference;
  /** The digest of its manifest or index. */
  readonly digest: string;
  readonly signal: AbortSignal;
}

/**
 * Looks for a signature of an attestor.
 * @throws FetchError when the registry or the trust root can't be asked: then there is no verdict
 */
export async function attestorVerdict(
  _attestor: Attestor,
  _sought: Sought,
  _image: Attested,
  _checks: SignatureChecks,
): Promise<AttestorVerdict> {
  throw new FetchError("to be written");
}

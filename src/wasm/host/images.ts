/** Reads image registries on behalf of policies. A registry client implements it; {@link NO_REGISTRY} replaces a missing one. */
import type { X509Certificate } from "node:crypto";
import { PublicError } from "../../data/public-text.js";

/** Pairs that a signed payload must contain. */
type Annotations = Readonly<Record<string, string>>;

/** A required signature. */
export type RequiredSignature = { readonly annotations?: Annotations } & (
  | { readonly kind: "pubKey"; readonly key: string }
  | {
      readonly kind: "genericIssuer";
      readonly issuer: string;
      readonly subject: { readonly equal: string } | { readonly urlPrefix: string };
    }
  | { readonly kind: "githubAction"; readonly owner: string; readonly repo?: string }
  | {
      readonly kind: "certificate";
      readonly certificate: X509Certificate;
      /** Intermediates and root; absent: the certificate itself is trusted. */
      readonly chain?: readonly X509Certificate[];
      readonly requireLogEntry: boolean;
    }
);

/** A JSON object of a registry. */
type Document = Readonly<Record<string, unknown>>;

/** A reader of registries. Image names are Docker's; a rejection's `shown` (`data/public-text`) is the guest's message. */
export interface ImageReader {
  /** `sha256:<hex>`. */
  digest(image: string, signal: AbortSignal): Promise<string>;
  manifest(image: string, signal: AbortSignal): Promise<Document>;
  manifestAndConfig(
    image: string,
    signal: AbortSignal,
  ): Promise<{ readonly manifest: Document; readonly digest: string; readonly config: Document }>;
  /** The digest of the image that was verified; all signatures are required. */
  verify(image: string, wanted: { readonly allOf: readonly RequiredSignature[] }, signal: AbortSignal): Promise<string>;
}

const refuse = () => Promise.reject(new PublicError("the host has no access to image registries"));

/** No registry: every question fails. */
export const NO_REGISTRY: ImageReader = {
  digest: refuse,
  manifest: refuse,
  manifestAndConfig: refuse,
  verify: refuse,
};

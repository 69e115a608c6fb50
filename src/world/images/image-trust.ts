/** Questions about the signatures of images, and their answers (spec kyverno.md 9). */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
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

/** A question about one image and one attestor. Attestor, `sought` and access must not change: policies give the same objects to all requests, where they can. */
export interface TrustQuestion {
  /** As written. */
  readonly image: string;
  readonly attestor: Attestor;
  readonly sought: Sought;
  readonly access: ImageAccess;
}

/** The same about the digest that the request knows: a tag may have moved since. */
export interface DigestQuestion extends TrustQuestion {
  readonly digest: string;
}

/** A source of verdicts on images. A registry or trust root that can't be asked is a LookupFailure, never a verdict. */
export interface ImageTrust {
  /** The digest of an image, whose manifest is there. */
  digest(image: string, access: ImageAccess): Eventual<string | LookupFailure>;
  verdict(question: DigestQuestion): Eventual<AttestorVerdict | LookupFailure>;
  /** The content of the first artifact of a type that refers to an image, unverified. */
  artifact(image: string, digest: string, artifactType: string, access: ImageAccess): Eventual<unknown>;
}

const words = new WeakMap<object, string>();
/** Words by the hashes of what they stand for. One that is forgotten costs the answers that were kept under it. */
const byHash = new LRUCache<string, string>({ max: 10_000 });
let made = 0;

/** A short word for a part of a question, equal for equal parts; an attestor's name does not count. Found once for each object. */
export function wordOf(part: Attestor | Sought | ImageAccess): string {
  let word = words.get(part);
  if (word === undefined) {
    const hash = createHash("sha256")
      .update(JSON.stringify({ ...part, name: undefined }))
      .digest("base64");
    word = byHash.get(hash) ?? (made++).toString(36);
    byHash.set(hash, word);
    words.set(part, word);
  }
  return word;
}

import { createHash } from "node:crypto";

/** How replicas name what they answer: the first 8 hexadecimal digits of its SHA-256. */
export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** As {@link shortHash} of the path at which a policy is asked. */
export const policyRoute = (id: string): string => shortHash(`/validate/${id}`);

/** As {@link shortHash} of the path at which a set of policies is asked. */
export const setRoute = (hash: string): string => shortHash(`/validate/set/${hash}`);

/** As {@link shortHash} of a version of a document that is loaded. */
export const loadedVersion = (document: {
  readonly key: string;
  readonly uid: string;
  readonly generation: number;
}): string => shortHash(`${document.key}@${document.uid}@${document.generation}`);

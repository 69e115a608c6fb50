import { createHash } from "node:crypto";

/** The replicas' name of a path that they answer: the first 8 hexadecimal digits of its SHA-256. */
export const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** {@link shortHash} of the path of a policy. */
export const policyRoute = (id: string): string => shortHash(`/validate/${id}`);

/** {@link shortHash} of the path of a set of policies. */
export const setRoute = (hash: string): string => shortHash(`/validate/set/${hash}`);

/** {@link shortHash} of a loaded version of a document. */
export const loadedVersion = (document: {
  readonly key: string;
  readonly uid: string;
  readonly generation: number;
}): string => shortHash(`${document.key}@${document.uid}@${document.generation}`);

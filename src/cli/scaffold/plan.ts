/** What a scaffold makes: prepared whole before anything is written. */

import { UsageError } from "../../data/command-io.js";
import { printable } from "../../data/printable.js";

/** A file to be made. */
export interface PlannedFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly content: string;
}

/** Everything that is made, and what to do then. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  /** An entry for policies.yaml, a comment and a map in block style; absent: none is added. */
  readonly entry?: { readonly id: string; readonly text: string };
  /** Commands to type next, in the folder. */
  readonly next: readonly string[];
}

/** Longest name: what Kubernetes takes for the name of most things. */
const MAX_NAME = 63;
const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * The name, when it can be a policy's id, a folder and the name of a Kubernetes object at once.
 * @throws UsageError
 */
export function checkedName(name: string): string {
  if (name.length <= MAX_NAME && NAME.test(name)) return name;
  const simple = simpleName(name);
  const hint = simple === "" ? "" : `, such as ${simple}`;
  throw new UsageError(
    `'${printable(name)}' can't be a name: letters a to z, digits and - only, at most ${MAX_NAME}, a letter or digit at both ends${hint}`,
  );
}

/** What of a text can be a name; `""` when nothing can. */
export const simpleName = (text: string): string =>
  text
    .slice(0, 4 * MAX_NAME)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_NAME)
    .replace(/^-|-$/g, "");

/** A text of others on one line of a comment. */
export function commentText(text: string): string {
  const line = printable(text.slice(0, MAX_COMMENT)).replace(/\s+/g, " ").trim();
  return text.length > MAX_COMMENT ? `${line}...` : line;
}

/** Longest text of others that is repeated in a comment. */
const MAX_COMMENT = 300;

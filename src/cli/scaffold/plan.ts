/** The plan of a scaffold, complete before anything is written. */

import { UsageError } from "../../data/command-io.js";
import { printable } from "../../data/printable.js";

/** A file to be made. */
export interface PlannedFile {
  /** The path below the folder, with `/`. */
  readonly path: string;
  readonly content: string;
}

/** All new files and entries, with the next commands. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  /** An entry for policies.yaml, a comment and a map in block style; absent: none is added. */
  readonly entry?: { readonly id: string; readonly text: string };
  /** Commands to type next, in the folder. */
  readonly next: readonly string[];
}

/** Longest name: Kubernetes' limit for most names. */
const MAX_NAME = 63;
const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Checks that a name can be a policy's id, a folder and the name of a Kubernetes object.
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

/** Reduces a text to a name; `""` when nothing is left. */
export const simpleName = (text: string): string =>
  text
    .slice(0, 4 * MAX_NAME)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_NAME)
    .replace(/^-|-$/g, "");

/** A foreign text on one line of a comment. */
export function commentText(text: string): string {
  const line = printable(text.slice(0, MAX_COMMENT)).replace(/\s+/g, " ").trim();
  return text.length > MAX_COMMENT ? `${line}...` : line;
}

/** Longest foreign text in a comment. */
const MAX_COMMENT = 300;

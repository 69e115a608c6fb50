import { getChild, Problem } from "./containers.js";
import { OPERATION_WORK, type Work } from "./limits.js";
import type { Container } from "./node.js";

/** A place in the tree: what holds it, and its key there. */
export interface Place {
  readonly container: Container;
  readonly key: string;
}

/**
 * The place that a path names, `undefined` where what should hold it is not there or is a scalar. What stands before the first slash counts for
 * nothing; a path without any names no place.
 */
export function placeOf(root: Container, path: string, work: Work): Place | undefined {
  work.spend(path.length);
  const [, ...keys] = path.split("/");
  const last = keys.pop();
  if (last === undefined) return undefined;
  work.spend(OPERATION_WORK * keys.length);
  let container = root;
  for (const key of keys) {
    const next = getChild(container, unescaped(key));
    if (next === null || next instanceof Problem) return undefined;
    const opened = next.open(work);
    if (opened === undefined) return undefined;
    container = opened;
  }
  return { container, key: unescaped(last) };
}

/** `~1` is a slash and `~0` a tilde; any other tilde is itself. */
const unescaped = (key: string): string =>
  key.includes("~") ? key.replace(/~[01]/g, (code) => (code === "~1" ? "/" : "~")) : key;

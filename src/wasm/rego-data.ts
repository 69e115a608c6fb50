/** Shapes of the cluster's resources for Rego policies, spec kubewarden.md 6.5. */
import { setKey } from "../data/plain-object.js";
import { nameOf, namespaceOf } from "../kubernetes/object.js";
import type { ResourceSnapshot } from "../kubernetes/reader.js";

type Tree = Record<string, unknown>;

/** OPA: plural, then namespace (for namespaced kinds), then name. Kinds without objects are absent. */
export function byPlural(resources: readonly ResourceSnapshot[]): Tree {
  const tree: Tree = {};
  for (const { plural, namespaced, items } of resources) {
    for (const item of items) {
      const name = nameOf(item);
      put(tree, namespaced ? [plural, namespaceOf(item), name] : [plural, name], item);
    }
  }
  return tree;
}

/** Gatekeeper: `cluster` or `namespace`, then apiVersion and kind, then name. */
export function inventory(resources: readonly ResourceSnapshot[]): Tree {
  const tree: Tree = {};
  for (const { kind, namespaced, items } of resources) {
    for (const item of items) {
      const path = [kind.apiVersion, kind.kind, nameOf(item)];
      put(tree, namespaced ? ["namespace", namespaceOf(item), ...path] : ["cluster", ...path], item);
    }
  }
  return tree;
}

function put(tree: Tree, path: readonly string[], item: unknown): void {
  let at = tree;
  for (const [index, key] of path.entries()) {
    if (index === path.length - 1) {
      setKey(at, key, item);
      return;
    }
    if (!Object.hasOwn(at, key)) setKey(at, key, {});
    at = at[key] as Tree;
  }
}

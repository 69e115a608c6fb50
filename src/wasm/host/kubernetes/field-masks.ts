/** Field masks of Kubernetes host calls, spec kubewarden.md 7.6. */
import { setKey } from "../../../data/plain-object.js";

/** Fields that are always kept. */
const ALWAYS = ["apiVersion", "kind", "metadata"] as const;

/** A tree of wanted fields; a node without children keeps its whole subtree. */
type MaskTree = Map<string, MaskTree>;

/** A prepared set of masks; undefined keeps everything. */
export type FieldMasks = MaskTree | undefined;

/** @param paths dotted paths; without any, everything is kept */
export function fieldMasks(paths: readonly string[] | undefined): FieldMasks {
  if (!paths || paths.length === 0) return undefined;
  const tree: MaskTree = new Map(ALWAYS.map((key) => [key, new Map()]));
  for (const path of paths) {
    let at = tree;
    for (const key of path.split(".")) {
      const next: MaskTree = at.get(key) ?? new Map();
      at.set(key, next);
      at = next;
    }
  }
  for (const key of ALWAYS) tree.set(key, new Map());
  return tree;
}

/** The value without fields outside of the masks. Lists are transparent: a mask applies to every element. */
export function masked(value: unknown, masks: FieldMasks): unknown {
  if (!masks || masks.size === 0) return value;
  if (Array.isArray(value)) return value.map((item) => masked(item, masks));
  if (typeof value !== "object" || value === null || value instanceof Number) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const below = masks.get(key);
    if (below) setKey(kept, key, masked(member, below));
  }
  return kept;
}

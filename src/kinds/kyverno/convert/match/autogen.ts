/** Kyverno's autogen: rules about Pods that also judge the controllers that create Pods (spec kyverno-old.md, autogen). */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member } from "../../../../kubernetes/object.js";
import { NotConverted } from "../not-converted.js";
import type { OldRule } from "../old-policy.js";
import { parseKind, plainKind } from "./kinds.js";

export const AUTOGEN_ANNOTATION = "pod-policies.kyverno.io/autogen-controllers";

/** The controllers in the order in which they are written, with the kinds that rules name. */
export const CONTROLLERS: ReadonlyMap<string, string> = new Map([
  ["DaemonSet", "apps/v1/DaemonSet"],
  ["Deployment", "apps/v1/Deployment"],
  ["ReplicaSet", "apps/v1/ReplicaSet"],
  ["StatefulSet", "apps/v1/StatefulSet"],
  ["Job", "batch/v1/Job"],
  ["CronJob", "batch/v1/CronJob"],
  ["ReplicationController", "v1/ReplicationController"],
]);

/** One of the blocks of `match` or `exclude`, with its place below the rule. */
export interface Block {
  readonly value: JsonObject;
  readonly resources: JsonObject;
  readonly kinds: readonly string[];
  readonly path: FieldPath;
}

/** The blocks, and how they are joined; the older direct form is one block. */
export function blocksOf(
  rule: JsonObject,
  key: "exclude" | "match",
): {
  readonly join: "all" | "any";
  readonly blocks: readonly Block[];
} {
  const whole = member(rule, key);
  for (const join of ["any", "all"] as const) {
    const list = member(whole, join);
    if (Array.isArray(list) && list.length > 0)
      return { join, blocks: list.flatMap((each, index) => blockOf(each, [key, join, index])) };
  }
  return { join: "any", blocks: blockOf(whole, [key]) };
}

function blockOf(value: unknown, path: FieldPath): readonly Block[] {
  if (!isObject(value)) return [];
  const found = member(value, "resources");
  const resources = isObject(found) ? found : {};
  const kinds = Array.isArray(resources.kinds) ? resources.kinds.filter((kind) => typeof kind === "string") : [];
  return [{ value, resources, kinds, path }];
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
const isPod = (kind: string): boolean => plainKind(kind) === "Pod";

/** Whether the rules of a policy can be about controllers, too: names, selectors, annotations and other kinds beside Pod in one block of any rule forbid it. */
function canAutogen(policy: JsonObject): boolean {
  const rules = member(member(policy, "spec"), "rules");
  let isNeeded = false;
  for (const rule of Array.isArray(rules) ? rules.filter(isObject) : []) {
    const mutate = member(rule, "mutate");
    const loops = member(mutate, "foreach");
    const patches = [mutate, ...(Array.isArray(loops) ? loops : [])];
    if (isSet(member(rule, "generate")) || patches.some((each) => isSet(member(each, "patchesJson6902")))) return false;
    for (const { resources, kinds } of [...blocksOf(rule, "match").blocks, ...blocksOf(rule, "exclude").blocks]) {
      const { name, names, selector, annotations } = resources;
      if ([name, selector, annotations].some(isSet) || (Array.isArray(names) && names.length > 0)) return false;
      if (kinds.length > 1 && kinds.some(isPod)) return false;
      isNeeded ||= kinds.some((kind) => kind === "Pod" || CONTROLLERS.has(kind));
    }
  }
  return isNeeded;
}

/**
 * The controllers that a rule judges by their Pod templates.
 * @throws NotConverted where it judges some objects twice: as themselves, and by a template
 */
export function controllersOf({ policy, rule, name }: Pick<OldRule, "name" | "policy" | "rule">): readonly string[] {
  const [match, exclude] = [blocksOf(rule, "match").blocks, blocksOf(rule, "exclude").blocks];
  const excluded = exclude.flatMap(({ kinds }) => kinds);
  if (name.startsWith("autogen-") || !canAutogen(policy) || !match.some(({ kinds }) => kinds.some(isPod))) return [];
  if (excluded.length > 0 && !excluded.some(isPod)) return [];
  const annotation = member(member(member(policy, "metadata"), "annotations"), AUTOGEN_ANNOTATION);
  const wanted = typeof annotation === "string" ? annotation.split(",") : [...CONTROLLERS.keys()];
  const controllers = [...CONTROLLERS.keys()].filter((kind) => wanted.includes(kind));
  const other = match.find(({ kinds }) => kinds.some((kind) => !isPod(kind) || parseKind(kind)?.subresource !== ""));
  if (other !== undefined && controllers.length > 0)
    throw new NotConverted(
      [...other.path, "resources", "kinds"],
      `with Pods in another block, autogen judges these kinds twice, as themselves and by a Pod template: write a rule of their own, or the annotation ${AUTOGEN_ANNOTATION}: none`,
    );
  return controllers;
}

/** Whether a rule judges controllers. */
export function judgesControllers(rule: Pick<OldRule, "name" | "policy" | "rule">): boolean {
  try {
    return controllersOf(rule).length > 0;
  } catch (error) {
    if (error instanceof NotConverted) return true;
    throw error;
  }
}

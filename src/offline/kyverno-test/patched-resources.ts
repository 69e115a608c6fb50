/** Compares resources with those that a test expects after mutations: `patchedResources` (spec kyverno.md 8.7). */

import { stringifyJson } from "../../data/json.js";
import { diff, type PatchOperation } from "../../data/json-patch.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import { Inputs } from "../scan/input-files.js";
import type { KnownKinds } from "../scan/known-kinds.js";
import { readResources } from "../scan/resource.js";
import { ScanError } from "../scan/scan-error.js";
import { split } from "../scan/split/split.js";

/** The resources of a file; or why it cannot be read. */
export type PatchedFile = readonly JsonObject[] | { readonly error: string };

/** Reads expected resources. */
export async function readPatched(path: string, kinds: KnownKinds): Promise<PatchedFile> {
  const inputs = new Inputs();
  try {
    const found: JsonObject[] = [];
    for (const file of await inputs.files([path]))
      for await (const batch of split(file.name, file.read()))
        found.push(...readResources(batch, kinds).map(({ object }) => object));
    return found;
  } catch (error) {
    if (error instanceof ScanError) return { error: error.message };
    throw error;
  } finally {
    await inputs.close();
  }
}

/** How a resource differs from the expected one: `absent` when none is expected of it. */
export type Difference = { readonly reason: string; readonly message: string } | "absent" | undefined;

/** Compares a resource with the one of its identity in a file. */
export function differenceFrom(expected: PatchedFile, actual: JsonObject, mustBeThere: boolean): Difference {
  if ("error" in expected) return unreadable(expected.error);
  const own = expected.find((each) => identityOf(each) === identityOf(actual));
  if (own === undefined)
    return mustBeThere ? unreadable(`resource with name ${nameOf(actual)} not found in manifest`) : "absent";
  const steps = diff(tidy(labelled(own)), tidy(labelled(actual)));
  if (steps.length === 0) return undefined;
  const shown = steps.slice(0, MAX_STEPS).map(stepText);
  const left = steps.length - shown.length;
  const all = [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join("; ");
  const message = `Patched resource didn't match the patched resource in the test result; from the expected to the actual one: ${all}`;
  return { reason: "Resource diff", message };
}

const stepText = (step: PatchOperation): string =>
  `${step.op} ${step.path}${step.op === "remove" ? "" : ` ${stringifyJson(step.value)}`}`;

/** Most steps of a difference that are shown. */
const MAX_STEPS = 10;

const unreadable = (error: string): Difference => ({
  reason: "Resource error",
  message: `error: failed to load PatchedResources resource (${error})`,
});

const identityOf = (object: JsonObject): string =>
  [text(object, "apiVersion"), text(object, "kind"), namespaceOf(object), nameOf(object)].join("\u0000");

/** The object with the labels that Kyverno compares: those of generated objects do not count. */
function labelled(object: JsonObject): JsonObject {
  const metadata = member(object, "metadata");
  const labels = member(metadata, "labels");
  const own = Object.entries(isObject(labels) ? labels : {}).filter(([key]) => !key.startsWith("generate.kyverno.io/"));
  const all = { "app.kubernetes.io/managed-by": "kyverno", ...Object.fromEntries(own) };
  return { ...object, metadata: { ...(isObject(metadata) ? metadata : {}), labels: all } };
}

/** A value without nulls, and without lists and maps that are empty then. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(tidy).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value ?? undefined;
  const members = Object.entries(value).flatMap(([key, item]) => {
    const left = tidy(item);
    return left === undefined ? [] : [[key, left] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

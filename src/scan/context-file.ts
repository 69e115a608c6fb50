/** The context file: what policies find when they ask for objects and images without a cluster (spec kyverno.md 8.6). */
import { readFileSync } from "node:fs";
import { withDoubles } from "../data/doubles.js";
import { isJsonObject } from "../data/same-value.js";
import { parseYamlDocuments } from "../data/yaml.js";
import { builtinNamespaced } from "../kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../kubernetes/object.js";
import type { OfflineData } from "../world/command-line.js";
import type { ContextObject } from "../world/objects/context-objects.js";
import { reasonOf } from "./input-files.js";
import type { KnownKinds } from "./known-kinds.js";
import { ScanError } from "./scan-error.js";

const KEYS: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "spec"]);
const SPEC_KEYS: ReadonlySet<string> = new Set(["resources", "images"]);

/**
 * Reads a context file.
 * @throws ScanError for what is no context, and for objects of kinds that nobody knows
 */
export function readContextFile(path: string, kinds: KnownKinds): OfflineData {
  let written: string;
  try {
    written = readFileSync(path, "utf8");
  } catch (error) {
    throw new ScanError(`open ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`, { cause: error });
  }
  let value: unknown;
  try {
    [value] = parseYamlDocuments(written);
  } catch (error) {
    throw new ScanError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  if (!isJsonObject(value)) throw new ScanError(`${path}: expected a map`);
  refuseUnknown(value, KEYS);
  const spec = member(value, "spec") ?? {};
  if (!isObject(spec)) throw new ScanError(`${path}: spec: expected a map`);
  refuseUnknown(spec, SPEC_KEYS);
  const images = new Map<string, JsonObject>();
  for (const image of listOf(spec.images)) {
    if (isObject(image)) images.set(text(image, "image"), withDoubles({ ...NO_IMAGE, ...image }) as unknown as JsonObject);
  }
  return { objects: listOf(spec.resources).map((object) => contextObject(object, kinds)), images };
}

/** What is always there of an image. */
const NO_IMAGE = { image: "", resolvedImage: "", registry: "", repository: "" };

function contextObject(object: unknown, kinds: KnownKinds): ContextObject {
  const apiVersion = text(object, "apiVersion");
  const kind = text(object, "kind");
  const { group, version } = parseApiVersion(apiVersion) ?? { group: "", version: apiVersion };
  if (!isObject(object) || !isKnown({ group, version, kind }, kinds)) {
    throw new ScanError(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
  }
  return { resource: { group, version, resource: kinds.resourceOf(group, kind) }, object };
}

const isKnown = (
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  kinds: KnownKinds,
): boolean =>
  builtinNamespaced(kind) !== undefined || kinds.isDefined(kind.group, kind.kind) || kinds.isClusterScoped(kind.group, kind.kind);

function refuseUnknown(value: JsonObject, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown === undefined) return;
  throw new ScanError(`error unmarshaling JSON: while decoding JSON: json: unknown field ${JSON.stringify(unknown)}`);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

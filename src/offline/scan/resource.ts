/** Kubernetes objects from files, in the form for evaluation (spec kyverno.md 8.2). */

import { opened } from "../../config/documents/documents.js";
import { parseResources } from "../../config/documents/source-document.js";
import { type JsonDocument, readJson, UNIQUE_KEYS } from "../../data/json.js";
import { setKey } from "../../data/plain-object.js";
import { parseSuspectYaml, parseYamlDocuments, warningText, type YamlError } from "../../data/yaml.js";
import { CONTEXT_ENTRY_KIND, CONTEXT_GROUP } from "../../kinds/kyverno/resource.js";
import { identify, type Surroundings } from "../../kubernetes/identity.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import type { Place, ReportedResource } from "../reports/finding.js";
import type { KnownKinds } from "./known-kinds.js";
import { ScanError } from "./scan-error.js";
import { type Batch, type ListKind, textsOf } from "./split/batch.js";

/** An object, with its own identity. */
export interface Resource extends ReportedResource {
  /** The object with integers, and with its namespace. */
  readonly object: JsonObject;
  readonly group: string;
  readonly version: string;
  /** Absent: it comes from no file. */
  readonly place?: Place | undefined;
}

/** Receives warnings about a file. */
export interface Doubts {
  /** A warning with its place. */
  warn(line: string): void;
  /** A duplicate key in a JSON file, whose resources are parsed without places (see json-doubts.ts). */
  repeated(file: string): void;
}

/** Maps that are often empty: generators of YAML then write a key without a value. */
const MAPS: ReadonlySet<string> = new Set([
  "annotations",
  "labels",
  "matchLabels",
  "nodeSelector",
  "data",
  "stringData",
]);

/**
 * The resources of a batch, in order.
 * @param doubts receives warnings; default: they are dropped
 * @throws ScanError for an unreadable text, or one without kind and version; names the file
 */
export function readResources(batch: Batch, kinds: KnownKinds, doubts?: Doubts): Resource[] {
  return textsOf(batch).flatMap((written, index) => {
    const told = doubts && {
      yaml: (doubt: YamlError): void => doubts.warn(warningText(doubt, batch.file, batch.lines[index])),
      json: (): void => doubts.repeated(batch.file),
      doubt: (text: string): void => doubts.warn(`${batch.file}: ${text}`),
    };
    try {
      const found = valuesOf(written, batch.form, told).flatMap((value) => resourcesOf(value, batch.list, kinds, told));
      return batch.file === STDIN ? found : placed(found, written, batch.file, batch.lines[index] ?? 1);
    } catch (error) {
      throw new ScanError(`${batch.file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
}

const STDIN = "-";
/** Longest text that is read once more for the lines of several resources in it; of a longer one all have its first line. */
const MAX_PLACED = 4 * 1024 * 1024;

/** The resources of a text with their lines in the file. */
function placed(found: Resource[], written: string, file: string, first: number): Resource[] {
  const above = written.startsWith("{") ? "" : (/^(?:[ \t\r]*(?:#[^\n]*)?\n)*/.exec(written)?.[0] ?? "");
  const begin = first + above.split("\n").length - 1;
  const inside =
    found.length === 1 || written.length > MAX_PLACED ? [] : opened(parseResources(written, file).documents);
  return found.map((resource, index) => {
    const own = inside.length === found.length ? inside[index] : undefined;
    // They were just made: copies would cost more than the rest.
    return Object.assign(resource, {
      place: { file, line: own === undefined ? begin : first + own.positionOf([]).line - 1 },
    });
  });
}

/** Receivers of a text's warnings. */
interface Told {
  yaml(doubt: YamlError): void;
  json(): void;
  doubt(text: string): void;
}

/** The values in a text: JSON has one, YAML may have several. */
function valuesOf(written: string, form: Batch["form"], told: Told | undefined): unknown[] {
  if (form === "yaml") return told ? parseSuspectYaml(written, told.yaml) : parseYamlDocuments(written);
  try {
    const { value, plain } = told === undefined ? readJson(written) : readDoubtfulJson(written, told);
    return [plain ? value : withIntegers(value)];
  } catch (error) {
    // A map of YAML may begin like one of JSON.
    try {
      return told ? parseSuspectYaml(written, told.yaml) : parseYamlDocuments(written);
    } catch {
      throw error;
    }
  }
}

function readDoubtfulJson(written: string, told: Told): JsonDocument {
  try {
    return readJson(written, { unique: UNIQUE_KEYS });
  } catch {
    const read = readJson(written);
    told.json();
    return read;
  }
}

function resourcesOf(
  value: unknown,
  list: ListKind | undefined,
  kinds: KnownKinds,
  told: Told | undefined,
): Resource[] {
  if (!isObject(value)) throw new ScanError(`expected an object, found ${shown(value)}`);
  const isNamed = typeof value.kind === "string" && value.kind !== "";
  const named = isNamed || list === undefined ? value : { ...value, ...list };
  const kind = text(named, "kind");
  if (kind === "") throw new ScanError(`Object 'Kind' is missing in '${shown(value)}'`);
  const { items } = named;
  if (kind.endsWith("List") && (Array.isArray(items) || items === null)) {
    const inner = kind.slice(0, -"List".length);
    const ofItems = inner === "" ? undefined : { apiVersion: text(named, "apiVersion"), kind: inner };
    return (items ?? []).flatMap((item) => resourcesOf(item, ofItems, kinds, told));
  }
  if (text(named, "apiVersion") === "") throw new ScanError(`Object 'apiVersion' is missing in '${shown(value)}'`);
  return [resourceOf(named, { namespaced: (each) => kinds.namespaced(each) }, told)];
}

/** Characters of an object in a message. */
const SHOWN = 200;
const shown = (value: unknown): string | undefined => JSON.stringify(value)?.slice(0, SHOWN);

/**
 * Makes a resource of an object, which must not be shared: missing members are added to it.
 * @param told receives what had to be assumed
 * @throws IdentityError for an object that no API server would take
 */
export function resourceOf(value: JsonObject, surroundings: Surroundings, told?: Pick<Told, "doubt">): Resource {
  withoutMissingMaps(value);
  const { object, group, version, kind, namespace, name, doubt } = identify(value, surroundings);
  if (doubt !== undefined) told?.doubt(doubt);
  const { metadata } = object;
  return {
    object,
    apiVersion: text(object, "apiVersion"),
    group,
    version,
    kind,
    namespace,
    name,
    uid: text(metadata, "uid"),
    resourceVersion: text(metadata, "resourceVersion"),
  };
}

function withoutMissingMaps(object: JsonObject): void {
  for (const key in object) {
    const value = object[key];
    if (value === null) {
      if (MAPS.has(key)) (object as Record<string, unknown>)[key] = {};
    } else if (Array.isArray(value)) {
      for (const item of value) if (isObject(item)) withoutMissingMaps(item);
    } else if (typeof value === "object" && !(value instanceof Number)) withoutMissingMaps(value as JsonObject);
  }
}

/** Converts whole numbers to integers, in any notation, as for YAML. */
export function withIntegers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Number) return Object.is(value.valueOf(), -0) ? 0 : value.valueOf();
  if (Array.isArray(value)) return value.map(withIntegers);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setKey(copy, key, withIntegers((value as JsonObject)[key]));
  return copy;
}

/** The resources to be evaluated: entries of the global context are not. */
export const judged = (resources: readonly Resource[]): readonly Resource[] =>
  resources.some(isContextEntry) ? resources.filter((each) => !isContextEntry(each)) : resources;

const isContextEntry = ({ kind, group }: Resource): boolean => kind === CONTEXT_ENTRY_KIND && group === CONTEXT_GROUP;

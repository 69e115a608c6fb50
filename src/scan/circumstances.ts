/** What requests are made with beside the resource: values and user information from files (spec kyverno.md 8.3 and 8.6). */
import { readFileSync } from "node:fs";
import { isJsonObject } from "../data/same-value.js";
import { parseYamlDocuments } from "../data/yaml.js";
import { isObject, type JsonObject, member, nameOf, text } from "../kubernetes/object.js";
import type { AdmissionRequest } from "../policy/index.js";
import { reasonOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/** What is done to a resource. */
export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** Objects of a kind that stand for a subresource of another. */
export interface Subresource {
  readonly subresource: ApiResource;
  readonly parentResource: ApiResource;
}

/** What discovery says of a resource, as far as it is looked at. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What values say. */
export interface Values {
  /** Absent: CREATE. */
  readonly operation?: Operation;
  /** Namespaces, whole or only with their labels; none stands twice. */
  readonly namespaces: readonly JsonObject[];
  readonly subresources: readonly Subresource[];
}

/** Without a file. */
export const NO_VALUES: Values = { namespaces: [], subresources: [] };

const VALUES_KEYS: ReadonlySet<string> = new Set(
  "apiVersion kind metadata globalValues policies namespaceSelector namespaces subresources".split(" "),
);
const OPERATIONS: readonly string[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/**
 * Reads a file with values.
 * @throws ScanError
 */
export function readValues(path: string): Values {
  const refused = (reason: string) =>
    new ScanError(`failed to decode yaml (unable to load variable file: ${path} (${reason}))`);
  const value = onlyDocument(path, refused);
  if (!isJsonObject(value)) throw refused("expected a map");
  if (text(value, "kind") === "" || text(value, "apiVersion") === "") throw refused("it has no apiVersion and kind");
  return valuesOf(value, refused);
}

/**
 * Values that are written in another file.
 * @param refused makes the error of a reason
 */
export function valuesOf(value: JsonObject, refused: (reason: string) => Error): Values {
  const unknown = Object.keys(value).find((key) => !VALUES_KEYS.has(key));
  if (unknown !== undefined) throw refused(unknownField(unknown));
  const operation = text(member(value, "globalValues"), "request.operation");
  if (operation !== "" && !OPERATIONS.includes(operation)) {
    throw new ScanError(
      `invalid request.operation value ${JSON.stringify(operation)}, must be one of ${OPERATIONS.join(", ")}`,
    );
  }
  return {
    ...(operation !== "" && operation !== "CONNECT" && { operation: operation as Operation }),
    namespaces: namespacesOf(value),
    subresources: listOf(value.subresources).flatMap((each) => {
      if (!isObject(each)) return [];
      return [{ subresource: apiResource(each.subresource), parentResource: apiResource(each.parentResource) }];
    }),
  };
}

/** Whole Namespaces win over labels for a name. */
function namespacesOf(value: JsonObject): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const namespace of listOf(value.namespaces)) {
    if (isObject(namespace) && !found.has(nameOf(namespace))) {
      found.set(nameOf(namespace), { ...namespace, apiVersion: "v1", kind: "Namespace" });
    }
  }
  for (const each of listOf(value.namespaceSelector)) {
    const name = text(each, "name");
    if (found.has(name)) continue;
    const labels = member(each, "labels");
    found.set(name, { apiVersion: "v1", kind: "Namespace", metadata: { name, ...(isObject(labels) && { labels }) } });
  }
  return [...found.values()];
}

const apiResource = (value: unknown): ApiResource => ({
  group: text(value, "group"),
  version: text(value, "version"),
  kind: text(value, "kind"),
});

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Who asks. */
export type User = AdmissionRequest["userInfo"];

const USER_KEYS: ReadonlySet<string> = new Set("apiVersion kind metadata roles clusterRoles userInfo".split(" "));

/**
 * Reads a file that says who asks.
 * @throws ScanError
 */
export function readUser(path: string): User {
  const refused = (reason: string) => new ScanError(`failed to load request info (failed to decode yaml (${reason}))`);
  const missing = (reason: string) =>
    new ScanError(`failed to load request info (unable to read yaml (unable to read yaml (${reason})))`);
  const value = onlyDocument(path, refused, missing);
  if (!isJsonObject(value)) throw refused("expected a map");
  const unknown = Object.keys(value).find((key) => !USER_KEYS.has(key));
  if (unknown !== undefined) throw refused(unknownField(unknown));
  const info = member(value, "userInfo");
  const groups = member(info, "groups");
  const extra = member(info, "extra");
  return {
    ...(text(info, "username") !== "" && { username: text(info, "username") }),
    ...(text(info, "uid") !== "" && { uid: text(info, "uid") }),
    ...(Array.isArray(groups) && { groups: groups.filter((group) => typeof group === "string") }),
    ...(isObject(extra) && { extra: extra as Readonly<Record<string, readonly string[]>> }),
  };
}

const unknownField = (key: string): string =>
  `error unmarshaling JSON: while decoding JSON: json: unknown field ${JSON.stringify(key)}`;

function onlyDocument(
  path: string,
  refused: (reason: string) => Error,
  missing: (reason: string) => Error = refused,
): unknown {
  let written: string;
  try {
    written = readFileSync(path, "utf8");
  } catch (error) {
    throw missing(`open ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
  }
  try {
    return parseYamlDocuments(written)[0];
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
}

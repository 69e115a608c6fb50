/** Reads inputs of requests beside the resource: values and user information from files (spec kyverno.md 8.3 and 8.6). */
import { sameValue } from "../../data/same-value.js";
import { parseYamlDocuments } from "../../data/yaml.js";
import { bindingsOf } from "../../kinds/kyverno/index.js";
import type { ApiType } from "../../kinds/shared/decode/api-type.js";
import { decodeAsGo } from "../../kinds/shared/decode/go-json.js";
import { isObject, type JsonObject, member, nameOf, text } from "../../kubernetes/object.js";
import type { AdmissionRequest } from "../../policy/index.js";
import { USER_INFO, VALUES } from "./circumstances-types.js";
import { textOf } from "./input-files.js";
import { OutdatedFileError, ScanError } from "./scan-error.js";

/** An operation on a resource. */
export type Operation = "CREATE" | "UPDATE" | "DELETE";

/** Objects of a kind that stand for a subresource of another. */
export interface Subresource {
  readonly subresource: ApiResource;
  readonly parentResource: ApiResource;
}

/** The used part of a resource in discovery. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The content of values. */
export interface Values {
  /** Absent: CREATE. */
  readonly operation?: Operation;
  /** Namespaces, whole or only with their labels; without duplicates. */
  readonly namespaces: readonly JsonObject[];
  readonly subresources: readonly Subresource[];
  readonly old: OldPolicyValues;
}

/** Values for policies of the old language, each value by its variable: `config.data.x` is a member of a member. */
export interface OldPolicyValues {
  /** For all of them. */
  readonly global: JsonObject;
  /** By a policy's name: those of single resources, as far as no two of them contradict each other. */
  readonly resources: ReadonlyMap<string, JsonObject>;
  /** By a policy's name, and its rule's. */
  readonly rules: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;
  /** Operations by a policy's name, and a resource's. */
  readonly operations: ReadonlyMap<string, ReadonlyMap<string, Operation>>;
}

/** Values without a file. */
export const NO_VALUES: Values = {
  namespaces: [],
  subresources: [],
  old: { global: {}, resources: new Map(), rules: new Map(), operations: new Map() },
};

const OPERATIONS: readonly string[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/**
 * Reads a file with values.
 * @param shown the file's name in messages
 * @throws ScanError
 */
export function readValues(path: string, shown = path): Values {
  const failed = (reason: string) => new ScanError(`failed to decode yaml (${reason})`);
  const refused = (reason: string) => failed(`unable to load variable file: ${shown} (${reason})`);
  const value = decodedDocument(path, VALUES, refused);
  if (isOutdated(value)) throw failed(`values file ${shown} ${OUTDATED}`);
  return valuesOf(value);
}

/** Whether values have the former format, without version and kind. */
const isOutdated = (value: JsonObject): boolean => text(value, "kind") === "" || text(value, "apiVersion") === "";
const OUTDATED = "uses a deprecated schema — please migrate to the latest format";

/**
 * Converts decoded values.
 * @throws ScanError for an unknown operation
 */
export function valuesOf(value: JsonObject): Values {
  const operation = text(member(value, "globalValues"), "request.operation");
  if (operation !== "" && !OPERATIONS.includes(operation)) {
    throw new ScanError(
      `invalid request.operation value ${JSON.stringify(operation)}, must be one of ${OPERATIONS.join(", ")}`,
    );
  }
  return {
    ...(isOperation(operation) && { operation }),
    namespaces: namespacesOf(value),
    old: oldValuesOf(value),
    subresources: listOf(value.subresources).flatMap((each) => {
      if (!isObject(each)) return [];
      return [{ subresource: apiResource(each.subresource), parentResource: apiResource(each.parentResource) }];
    }),
  };
}

function oldValuesOf(value: JsonObject): OldPolicyValues {
  const rules = new Map<string, ReadonlyMap<string, JsonObject>>();
  const operations = new Map<string, ReadonlyMap<string, Operation>>();
  const resources = new Map<string, JsonObject>();
  for (const policy of listOf(value.policies)) {
    const name = text(policy, "name");
    const own = listOf(member(policy, "rules")).map((rule) => [text(rule, "name"), objectAt(rule, "values")] as const);
    rules.set(name, new Map(own));
    const asked = listOf(member(policy, "resources")).flatMap((resource) => {
      const operation = text(member(resource, "values"), "request.operation");
      return isOperation(operation) ? [[text(resource, "name"), operation] as const] : [];
    });
    operations.set(name, new Map(asked));
    resources.set(name, commonOf(listOf(member(policy, "resources")).map((each) => objectAt(each, "values"))));
  }
  return { global: objectAt(value, "globalValues"), resources, rules, operations };
}

/** All values but those that differ. */
function commonOf(all: readonly JsonObject[]): JsonObject {
  const entries = all.flatMap((each) => Object.entries(each));
  const isClear = ([key, value]: readonly [string, unknown]): boolean =>
    entries.every(([other, found]) => other !== key || sameValue(found, value));
  return Object.fromEntries(entries.filter(isClear));
}

/** Whether requests for resources may have the operation. */
export const isOperation = (operation: string): operation is Operation =>
  operation !== "CONNECT" && OPERATIONS.includes(operation);

function objectAt(value: unknown, key: string): JsonObject {
  const found = member(value, key);
  return isObject(found) ? found : {};
}

/** The Namespaces of values; whole ones take precedence over labels for a name. */
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

/** The requester. */
export type User = AdmissionRequest["userInfo"];

/** The requester of a file with user information. */
export interface Requester {
  readonly user: User;
  /** RoleBindings and ClusterRoleBindings that policies of the old language look up: the roles that the file names. */
  readonly bindings: readonly JsonObject[];
}

/**
 * Reads a file with user information.
 * @param shown the file's name in messages
 * @throws ScanError
 */
export function readUser(path: string, shown = path): Requester {
  const failed = (reason: string) => new ScanError(`failed to load request info (${reason})`);
  const refused = (reason: string) => failed(`failed to decode yaml (${reason})`);
  const missing = (reason: string) => failed(`unable to read yaml (unable to read yaml (${reason}))`);
  const value = decodedDocument(path, USER_INFO, refused, missing);
  if (isOutdated(value)) throw new OutdatedFileError(`userInfo file ${shown} ${OUTDATED}`);
  const { userInfo, bindings } = bindingsOf(value);
  // A user without a name has one where roles are bound to it.
  const isBound = [value.roles, value.clusterRoles].some((names) => listOf(names).length > 0);
  return { user: (isBound ? userInfo : (value.userInfo ?? {})) as User, bindings };
}

function decodedDocument(
  path: string,
  type: ApiType,
  refused: (reason: string) => Error,
  missing: (reason: string) => Error = refused,
): JsonObject {
  const written = textOf(path, missing);
  let document: unknown;
  try {
    document = parseYamlDocuments(written, { uniqueKeys: true })[0] ?? {};
  } catch (error) {
    throw refused(`error converting YAML to JSON: yaml: ${error instanceof Error ? error.message : String(error)}`);
  }
  const decoded = decodeAsGo(document, type);
  if (!decoded.ok) throw refused(`error unmarshaling JSON: while decoding JSON: ${decoded.error}`);
  return decoded.value as JsonObject;
}

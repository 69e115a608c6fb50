/**
 * Converts a parsed `request` member to an AdmissionRequest: known fields only, null means absent, the contents of `object`, `oldObject` and `options` are
 * kept as they are (spec kubewarden.md 3.2).
 */
import { makeLater } from "../data/read-later.js";
import { isJsonObject } from "../data/same-value.js";
import type { Writable } from "../data/writable.js";
import type { AdmissionRequest, GroupVersionKind, GroupVersionResource, UserInfo } from "./admission-request.js";
import {
  type FieldNames,
  fieldNames,
  type JsonObject,
  optional,
  readBoolean,
  readString,
  refuseMisspelt,
  required,
  step,
  wrongType,
} from "./shape.js";

const REQUEST = fieldNames(
  "uid",
  "kind",
  "resource",
  "subResource",
  "requestKind",
  "requestResource",
  "requestSubResource",
  "name",
  "namespace",
  "operation",
  "userInfo",
  "object",
  "oldObject",
  "dryRun",
  "options",
);
const KIND = fieldNames("group", "version", "kind");
const RESOURCE = fieldNames("group", "version", "resource");
const USER = fieldNames("username", "uid", "groups", "extra");

/** The readers of objects that are read when they are first used; undefined for one that has been read. */
export type ReadLater = (name: "object" | "oldObject") => (() => unknown) | undefined;

/**
 * Reads an AdmissionRequest.
 * @param later the readers of objects, of which it knows that they are not null
 * @throws ShapeError with the path of the error
 */
export function readAdmissionRequest(value: unknown, later: ReadLater = () => undefined): AdmissionRequest {
  const from = expectObject(value, "struct AdmissionRequest", REQUEST);
  const request: Writable<AdmissionRequest> = {
    uid: required("uid", from.uid, readString),
    kind: required("kind", from.kind, readKind),
    resource: required("resource", from.resource, readResource),
    operation: required("operation", from.operation, readString),
    userInfo: required("userInfo", from.userInfo, readUserInfo),
  };
  const subResource = optional("subResource", from.subResource, readString);
  if (subResource !== undefined) request.subResource = subResource;
  const requestKind = optional("requestKind", from.requestKind, readKind);
  if (requestKind !== undefined) request.requestKind = requestKind;
  const requestResource = optional("requestResource", from.requestResource, readResource);
  if (requestResource !== undefined) request.requestResource = requestResource;
  const requestSubResource = optional("requestSubResource", from.requestSubResource, readString);
  if (requestSubResource !== undefined) request.requestSubResource = requestSubResource;
  const name = optional("name", from.name, readString);
  if (name !== undefined) request.name = name;
  const namespace = optional("namespace", from.namespace, readString);
  if (namespace !== undefined) request.namespace = namespace;
  readObject(request, "object", from.object, later);
  readObject(request, "oldObject", from.oldObject, later);
  const dryRun = optional("dryRun", from.dryRun, readBoolean);
  if (dryRun !== undefined) request.dryRun = dryRun;
  if (from.options !== undefined && from.options !== null) request.options = from.options;
  return request;
}

/** Reads an object. A value that is replaced by a later reader would leave the request in a form in which all of its members are slow to read. */
function readObject(
  request: Writable<AdmissionRequest>,
  name: "object" | "oldObject",
  value: unknown,
  later: ReadLater,
): void {
  if (value === undefined || value === null) return;
  const make = later(name);
  if (make) makeLater(request, name, make);
  else request[name] = value;
}

function expectObject(value: unknown, expected: string, fields?: FieldNames): JsonObject {
  if (!isJsonObject(value)) throw wrongType(value, expected);
  if (fields !== undefined) refuseMisspelt(value, fields);
  return value;
}

function readKind(value: unknown): GroupVersionKind {
  const from = expectObject(value, "struct GroupVersionKind", KIND);
  return {
    group: required("group", from.group, readString),
    version: required("version", from.version, readString),
    kind: required("kind", from.kind, readString),
  };
}

function readResource(value: unknown): GroupVersionResource {
  const from = expectObject(value, "struct GroupVersionResource", RESOURCE);
  return {
    group: required("group", from.group, readString),
    version: required("version", from.version, readString),
    resource: required("resource", from.resource, readString),
  };
}

function readUserInfo(value: unknown): UserInfo {
  const from = expectObject(value, "struct UserInfo", USER);
  const user: Writable<UserInfo> = {};
  const username = optional("username", from.username, readString);
  if (username !== undefined) user.username = username;
  const uid = optional("uid", from.uid, readString);
  if (uid !== undefined) user.uid = uid;
  const groups = optional("groups", from.groups, readStrings);
  if (groups !== undefined) user.groups = groups;
  const extra = optional("extra", from.extra, readExtra);
  if (extra !== undefined) user.extra = extra;
  return user;
}

function readStrings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw wrongType(value, "a sequence");
  const list: readonly unknown[] = value;
  list.forEach((item, index) => {
    if (typeof item !== "string") step(index, item, readString);
  });
  return value;
}

function readExtra(value: unknown): Readonly<Record<string, readonly string[]>> {
  const from = expectObject(value, "a map");
  // Checked in place, not copied: a key may be `__proto__`.
  for (const key of Object.keys(from)) {
    const list = from[key];
    // Most have one text.
    if (!(Array.isArray(list) && list.length === 1 && typeof list[0] === "string")) step(key, list, readStrings);
  }
  return from as Readonly<Record<string, readonly string[]>>;
}

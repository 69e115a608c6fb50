/**
 * Role, ClusterRole, RoleBinding and ClusterRoleBinding, read strictly: a misspelt field, such as `resourceNames`, would give rights that
 * were not intended.
 */
import { didYouMean } from "../../data/suggest.js";
import { type FieldError, type FieldPath, goQuote, invalid } from "../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";

/** The API group of the objects, and of the users and groups that they name. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";
const API_VERSION = `${RBAC_GROUP}/v1`;

/** The rights of a role; absent lists are empty. */
export interface RbacRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: every name. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** A Role or ClusterRole. */
export interface RbacRole {
  readonly kind: "Role" | "ClusterRole";
  /** `""` for a ClusterRole. */
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly RbacRule[];
  /** Whether a cluster would fill in its rules from other roles; here they count as written. */
  readonly aggregated: boolean;
}

/** The subject of a binding. Absent fields are `""`. */
export interface RbacSubject {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** A RoleBinding or ClusterRoleBinding. */
export interface RbacBinding {
  readonly kind: "RoleBinding" | "ClusterRoleBinding";
  /** `""` for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly RbacSubject[];
}

/** An object of RBAC. */
export type RbacObject = RbacRole | RbacBinding;

/** The type of a field: a text, texts, an object or objects with fields, or any value. */
type Shape = "text" | "texts" | "any" | { readonly one: Fields } | { readonly many: Fields };
type Fields = Readonly<Record<string, Shape>>;

const METADATA: Fields = {
  name: "text",
  namespace: "text",
  generateName: "any",
  selfLink: "any",
  uid: "any",
  resourceVersion: "any",
  generation: "any",
  creationTimestamp: "any",
  deletionTimestamp: "any",
  deletionGracePeriodSeconds: "any",
  labels: "any",
  annotations: "any",
  ownerReferences: "any",
  finalizers: "any",
  managedFields: "any",
};
const COMMON: Fields = { apiVersion: "text", kind: "text", metadata: { one: METADATA } };
const RULE: Fields = {
  verbs: "texts",
  apiGroups: "texts",
  resources: "texts",
  resourceNames: "texts",
  nonResourceURLs: "texts",
};
const ROLE: Fields = { ...COMMON, rules: { many: RULE } };
const BINDING: Fields = {
  ...COMMON,
  roleRef: { one: { apiGroup: "text", kind: "text", name: "text" } },
  subjects: { many: { apiGroup: "text", kind: "text", name: "text", namespace: "text" } },
};
const KINDS: Readonly<Record<string, Fields>> = {
  Role: ROLE,
  ClusterRole: { ...ROLE, aggregationRule: "any" },
  RoleBinding: BINDING,
  ClusterRoleBinding: BINDING,
};

/** Whether an object is meant to be one of RBAC, even if its version or kind does not exist. */
export function isRbacObject(value: unknown): boolean {
  const [group = "", version] = text(value, "apiVersion").split("/");
  if (version !== undefined && group === RBAC_GROUP) return true;
  // A typing error in the group must not make rights vanish without a message; other APIs have Roles, too.
  const near = version === undefined || didYouMean(group, [RBAC_GROUP]) !== "" || group.startsWith("rbac");
  return near && Object.hasOwn(KINDS, text(value, "kind"));
}

/** The object, or every field that is unknown or of another type; further checks are in `rbac-checks.ts`. */
export function readRbacObject(value: unknown): RbacObject | readonly FieldError[] {
  const errors: FieldError[] = [];
  const kind = text(value, "kind");
  const apiVersion = text(value, "apiVersion");
  const fields = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (apiVersion !== API_VERSION) errors.push(oneOf(["apiVersion"], apiVersion, [API_VERSION]));
  if (fields === undefined) errors.push(oneOf(["kind"], kind, Object.keys(KINDS)));
  else check(value, fields, [], errors);
  if (errors.length > 0) return errors;
  return kind === "Role" || kind === "ClusterRole"
    ? roleOf(kind, value)
    : bindingOf(kind as RbacBinding["kind"], value);
}

function oneOf(path: FieldPath, value: string, known: readonly string[]): FieldError {
  return invalid(path, value, `must be ${known.map(goQuote).join(" or ")}${didYouMean(value, known)}`);
}

function check(value: unknown, fields: Fields, path: FieldPath, errors: FieldError[]): void {
  if (!isObject(value)) {
    errors.push(wrongType(path, value, "an object"));
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const shape = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (shape === undefined) {
      errors.push({ path: [...path, key], text: `unknown field${didYouMean(key, Object.keys(fields))}` });
    } else if (item !== null) {
      checkShape(item, shape, [...path, key], errors);
    }
  }
}

function checkShape(value: unknown, shape: Shape, path: FieldPath, errors: FieldError[]): void {
  if (shape === "any") return;
  if (shape === "text") {
    if (typeof value !== "string") errors.push(wrongType(path, value, "a string"));
  } else if (shape !== "texts" && "one" in shape) {
    check(value, shape.one, path, errors);
  } else if (!Array.isArray(value)) {
    errors.push(wrongType(path, value, "a list"));
  } else {
    for (const [index, item] of value.entries()) {
      if (shape === "texts") checkShape(item, "text", [...path, index], errors);
      else check(item, shape.many, [...path, index], errors);
    }
  }
}

function wrongType(path: FieldPath, value: unknown, expected: string): FieldError {
  const found = Array.isArray(value) ? "list" : value === null ? "null" : isObject(value) ? "object" : typeof value;
  return { path, text: `Invalid value: ${goQuote(found)}: must be ${expected}` };
}

// From here on all fields are checked.

function roleOf(kind: RbacRole["kind"], role: unknown): RbacRole {
  const rules = manyAt(role, "rules").map((rule) => ({
    verbs: textsAt(rule, "verbs"),
    apiGroups: textsAt(rule, "apiGroups"),
    resources: textsAt(rule, "resources"),
    resourceNames: textsAt(rule, "resourceNames"),
    nonResourceURLs: textsAt(rule, "nonResourceURLs"),
  }));
  const aggregated = (member(role, "aggregationRule") ?? null) !== null;
  return { kind, ...named(role, kind === "Role"), rules, aggregated };
}

function bindingOf(kind: RbacBinding["kind"], binding: unknown): RbacBinding {
  const roleRef = oneAt(binding, "roleRef");
  return {
    kind,
    ...named(binding, kind === "RoleBinding"),
    roleRef: {
      apiGroup: text(roleRef, "apiGroup") || RBAC_GROUP,
      kind: text(roleRef, "kind"),
      name: text(roleRef, "name"),
    },
    subjects: manyAt(binding, "subjects").map(subjectOf),
  };
}

function subjectOf(subject: unknown): RbacSubject {
  const kind = text(subject, "kind");
  const group = kind === "User" || kind === "Group" ? RBAC_GROUP : "";
  return {
    apiGroup: text(subject, "apiGroup") || group,
    kind,
    name: text(subject, "name"),
    namespace: text(subject, "namespace"),
  };
}

function named(object: unknown, namespaced: boolean): Pick<RbacRole, "namespace" | "name"> {
  const metadata = oneAt(object, "metadata");
  return { namespace: namespaced ? text(metadata, "namespace") : "", name: text(metadata, "name") };
}

const oneAt = (object: unknown, key: string): JsonObject => (member(object, key) ?? {}) as JsonObject;
const manyAt = (object: unknown, key: string): readonly unknown[] => (member(object, key) ?? []) as unknown[];
const textsAt = (object: unknown, key: string): readonly string[] => (member(object, key) ?? []) as string[];

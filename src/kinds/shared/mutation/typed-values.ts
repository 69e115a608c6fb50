/**
 * The variables' values that are Go's own structs in the server, not JSON: the request, the Namespace, and parameters and objects of built-in kinds. Their
 * structs, lists and maps cannot be values of a JSON Patch (spec mutating-admission-policy.md 6).
 */
import type { Bindings } from "../../../cel/index.js";
import { structOfObject } from "../../../kubernetes/go-types/as-struct.js";
import type { GoStruct, GoType } from "../../../kubernetes/go-types/go-type.js";
import { isObject } from "../../../kubernetes/object.js";

/** The struct with these members, as far as they matter here. */
function struct(go: string, members: Readonly<Record<string, GoType>> = {}): GoStruct {
  const member = ([name, type]: [string, GoType]) =>
    [name, { name, place: name, type, omitEmpty: false, omitZero: false }] as const;
  return { kind: "struct", go, members: new Map(Object.entries(members).map(member)) };
}

const TEXT: GoType = { kind: "string", go: "string" };
const list = (go: string, element: GoType = TEXT): GoType => ({ kind: "list", go, element });
const map = (go: string, element: GoType = TEXT): GoType => ({ kind: "map", go, element });

const KIND = struct("v1.GroupVersionKind");
const RESOURCE = struct("v1.GroupVersionResource");

/** Go's name of a request. */
export const REQUEST_TYPE = "v1.AdmissionRequest";

const REQUEST = struct(REQUEST_TYPE, {
  kind: KIND,
  requestKind: KIND,
  resource: RESOURCE,
  requestResource: RESOURCE,
  userInfo: struct("v1.UserInfo", {
    groups: list("[]string"),
    extra: map("map[string]v1.ExtraValue", list("v1.ExtraValue")),
  }),
});

const LABELS = map("map[string]string");

const NAMESPACE = struct("v1.Namespace", {
  metadata: struct("v1.ObjectMeta", { labels: LABELS, annotations: LABELS, finalizers: list("[]string") }),
  spec: struct("v1.NamespaceSpec", { finalizers: list("[]v1.FinalizerName") }),
  status: struct("v1.NamespaceStatus", {
    conditions: list("[]v1.NamespaceCondition", struct("v1.NamespaceCondition")),
  }),
});

/** The structs that objects are in the server; `undefined` where they are JSON, as custom resources are. */
export interface VariableTypes {
  readonly object: GoType | undefined;
  readonly oldObject: GoType | undefined;
  /** Of a parameter that does not tell its kind itself. */
  readonly params?: GoType | undefined;
}

/** The types of those values of the variables that are not JSON. */
export function typedValues(bindings: Bindings, types: VariableTypes): ReadonlyMap<unknown, GoType> {
  const { object, oldObject } = types;
  const found = new Map<unknown, GoType>();
  collect(bindings.request, REQUEST, found);
  collect(bindings.namespaceObject, NAMESPACE, found);
  const { params } = bindings;
  const type = types.params ?? (isObject(params) ? structOfObject(params) : undefined);
  if (type !== undefined) collect(params, type, found);
  if (object !== undefined) collect(bindings.object, object, found);
  if (oldObject !== undefined) collect(bindings.oldObject, oldObject, found);
  return found;
}

function collect(value: unknown, type: GoType, found: Map<unknown, GoType>): void {
  switch (type.kind) {
    case "pointer":
      collect(value, type.element, found);
      return;
    case "list":
      if (!Array.isArray(value)) return;
      found.set(value, type);
      for (const item of value) collect(item, type.element, found);
      return;
    case "map":
    case "struct":
      if (!isObject(value)) return;
      found.set(value, type);
      for (const key of Object.keys(value)) {
        const inner = type.kind === "map" ? type.element : type.members.get(key)?.type;
        if (inner !== undefined) collect(value[key], inner, found);
      }
      return;
    default:
  }
}

/** `resource`: objects of a cluster by their resource (spec kyverno.md 4.5). */
import {
  ANY,
  CelError,
  type FunctionDeclaration,
  mapType,
  noSuchOverload,
  OpaqueValue,
  opaqueType,
  type Result,
  STRING,
  type Value,
  Waiting,
} from "../../../cel/index.js";
import { apiVersionOf, type GroupVersionResource } from "../../../kubernetes/names.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import type { ObjectPlace } from "../../../world/objects/object-source.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import { type Asking, type AskingOverload, asValue, methodsNamed } from "./context-value.js";
import { bodyOf, jsonOf, textMap } from "./json-argument.js";

/** The type of `resource`. */
export const RESOURCE_CONTEXT = opaqueType("resource.Context");
const GVR = opaqueType("schema.GroupVersionResource");
const TEXTS = mapType(STRING, STRING);
/** The type of objects; their members have the type `any`, so that no macro runs over one (spec kyverno.md 4.5). */
const OBJECT = mapType(STRING, ANY);

/** The result of `ToGVR`: usable only as an argument. */
class ResourceValue extends OpaqueValue {
  readonly typeName = "schema.GroupVersionResource";

  constructor(readonly resource: GroupVersionResource) {
    super();
  }

  equals(): CelError {
    return noSuchOverload();
  }

  toString(): string {
    return `${apiVersionOf(this.resource)}/${this.resource.resource}`;
  }
}

const placeOf = (apiVersion: string, resource: string, namespace: string): ObjectPlace => ({
  apiVersion,
  resource,
  namespace,
});
const placeIn = ({ resource }: ResourceValue, namespace: string): ObjectPlace =>
  placeOf(apiVersionOf(resource), resource.resource, namespace);

const get = ({ external }: Asking, place: ObjectPlace, name: string): Result | Waiting =>
  asValue(external.get(place, name), "failed to get resource");

function list({ external }: Asking, place: ObjectPlace, labels?: Value, position?: number): Result | Waiting {
  const wanted = labels === undefined ? {} : textMap(labels, position ?? 0);
  return wanted instanceof CelError ? wanted : asValue(external.list(place, wanted), "failed to list resource");
}

function create({ external }: Asking, place: ObjectPlace, value: Value, position: number): Result | Waiting {
  const object = jsonOf(value, position);
  if (object instanceof CelError) return object;
  return asValue(external.create(place, object as JsonObject, bodyOf(object)), "failed to create resource");
}

function toResource({ external }: Asking, apiVersion: string, kind: string): Result | Waiting {
  const found = external.resourceOf(apiVersion, kind);
  if (found instanceof Waiting || found instanceof LookupFailure)
    return asValue(found, "failed to map kind to resource");
  return new ResourceValue(found);
}

const TO_RESOURCE: AskingOverload = {
  id: "convert_to_gvr_string_string",
  params: [STRING, STRING],
  result: GVR,
  ask: toResource,
};

/** The methods for policies that see all namespaces, which name one; `""`: cluster-scoped, or all. */
function clusterMethods(): readonly FunctionDeclaration[] {
  const lists: readonly AskingOverload[] = [
    {
      id: "resource_list_string_string_string",
      params: [STRING, STRING, STRING],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, namespace: string) =>
        list(asking, placeOf(apiVersion, resource, namespace)),
    },
    {
      id: "resource_list_string_string_string_map",
      params: [STRING, STRING, STRING, TEXTS],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, namespace: string, labels: Value) =>
        list(asking, placeOf(apiVersion, resource, namespace), labels, 4),
    },
    {
      id: "list_resources_gvr_string",
      params: [GVR, STRING],
      result: OBJECT,
      ask: (asking, resource: ResourceValue, namespace: string) => list(asking, placeIn(resource, namespace)),
    },
    {
      id: "list_resources_gvr_string_map",
      params: [GVR, STRING, TEXTS],
      result: OBJECT,
      ask: (asking, resource: ResourceValue, namespace: string, labels: Value) =>
        list(asking, placeIn(resource, namespace), labels, 4),
    },
  ];
  const gets: readonly AskingOverload[] = [
    {
      id: "resource_get_string_string_string_string",
      params: [STRING, STRING, STRING, STRING],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, namespace: string, name: string) =>
        get(asking, placeOf(apiVersion, resource, namespace), name),
    },
    {
      id: "resource_get_gvr_string_string",
      params: [GVR, STRING, STRING],
      result: OBJECT,
      ask: (asking, resource: ResourceValue, namespace: string, name: string) =>
        get(asking, placeIn(resource, namespace), name),
    },
  ];
  const posts: readonly AskingOverload[] = [
    {
      id: "resource_post_string_string_string_map",
      params: [STRING, STRING, STRING, OBJECT],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, namespace: string, object: Value) =>
        create(asking, placeOf(apiVersion, resource, namespace), object, 4),
    },
    {
      id: "resource_post_string_string_map",
      params: [STRING, STRING, OBJECT],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, object: Value) =>
        create(asking, placeOf(apiVersion, resource, ""), object, 4),
    },
  ];
  return methods(lists, gets, posts);
}

/** The methods for policies of a namespace, which see that one only (spec kyverno.md 1.7). */
function namespacedMethods(): readonly FunctionDeclaration[] {
  const lists: readonly AskingOverload[] = [
    {
      id: "resource_list_string_string",
      params: [STRING, STRING],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string) =>
        list(asking, placeOf(apiVersion, resource, asking.namespace)),
    },
    {
      id: "resource_list_string_string_map",
      params: [STRING, STRING, TEXTS],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, labels: Value) =>
        list(asking, placeOf(apiVersion, resource, asking.namespace), labels, 3),
    },
    {
      id: "list_resources_gvr",
      params: [GVR],
      result: OBJECT,
      ask: (asking, resource: ResourceValue) => list(asking, placeIn(resource, asking.namespace)),
    },
    {
      id: "list_resources_gvr_map",
      params: [GVR, TEXTS],
      result: OBJECT,
      ask: (asking, resource: ResourceValue, labels: Value) =>
        list(asking, placeIn(resource, asking.namespace), labels, 3),
    },
  ];
  const gets: readonly AskingOverload[] = [
    {
      id: "resource_get_string_string_string",
      params: [STRING, STRING, STRING],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, name: string) =>
        get(asking, placeOf(apiVersion, resource, asking.namespace), name),
    },
    {
      id: "resource_get_gvr_string",
      params: [GVR, STRING],
      result: OBJECT,
      ask: (asking, resource: ResourceValue, name: string) => get(asking, placeIn(resource, asking.namespace), name),
    },
  ];
  const posts: readonly AskingOverload[] = [
    {
      id: "resource_post_string_string_map",
      params: [STRING, STRING, OBJECT],
      result: OBJECT,
      ask: (asking, apiVersion: string, resource: string, object: Value) =>
        create(asking, placeOf(apiVersion, resource, asking.namespace), object, 3),
    },
  ];
  return methods(lists, gets, posts);
}

const methods = (
  lists: readonly AskingOverload[],
  gets: readonly AskingOverload[],
  posts: readonly AskingOverload[],
): readonly FunctionDeclaration[] => [
  ...methodsNamed("List", RESOURCE_CONTEXT, lists),
  ...methodsNamed("Get", RESOURCE_CONTEXT, gets),
  ...methodsNamed("Post", RESOURCE_CONTEXT, posts),
  ...methodsNamed("ToGVR", RESOURCE_CONTEXT, [TO_RESOURCE]),
];

/** The methods of `resource`. */
export const resourceMethods = (namespaced: boolean): readonly FunctionDeclaration[] =>
  namespaced ? namespacedMethods() : clusterMethods();

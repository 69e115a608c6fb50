/**
 * The object types of the variables that Kubernetes admission gives an expression: `request` and `namespaceObject` (spec kubernetes-cel.md 6.1).
 * Their values are plain JSON objects.
 */
import type { ObjectTypeDeclaration } from "../declarations.js";
import { BOOL, DYN, INT, listType, mapType, objectType, STRING, TIMESTAMP, type Type } from "../types.js";

const declare = (name: string, fields: Readonly<Record<string, Type>>): ObjectTypeDeclaration => ({
  name,
  fields: new Map(Object.entries(fields)),
});

/** Type of `request`. */
export const ADMISSION_REQUEST: Type = objectType("kubernetes.AdmissionRequest");
/** Type of `namespaceObject`. */
export const NAMESPACE: Type = objectType("kubernetes.Namespace");

const KIND = objectType("kubernetes.GroupVersionKind");
const RESOURCE = objectType("kubernetes.GroupVersionResource");
const STRING_MAP = mapType(STRING, STRING);

/** The declarations behind {@link ADMISSION_REQUEST} and {@link NAMESPACE}. */
export const ADMISSION_TYPES: readonly ObjectTypeDeclaration[] = [
  declare("kubernetes.GroupVersionKind", { group: STRING, version: STRING, kind: STRING }),
  declare("kubernetes.GroupVersionResource", { group: STRING, version: STRING, resource: STRING }),
  declare("kubernetes.UserInfo", {
    username: STRING,
    uid: STRING,
    groups: listType(STRING),
    extra: mapType(STRING, listType(STRING)),
  }),
  declare("kubernetes.AdmissionRequest", {
    kind: KIND,
    resource: RESOURCE,
    subResource: STRING,
    requestKind: KIND,
    requestResource: RESOURCE,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: objectType("kubernetes.UserInfo"),
    dryRun: BOOL,
    options: DYN,
  }),
  declare("kubernetes.NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: STRING_MAP,
    annotations: STRING_MAP,
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listType(STRING),
  }),
  declare("kubernetes.NamespaceSpec", { finalizers: listType(STRING) }),
  declare("kubernetes.NamespaceCondition", {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  }),
  declare("kubernetes.NamespaceStatus", {
    conditions: listType(objectType("kubernetes.NamespaceCondition")),
    phase: STRING,
  }),
  declare("kubernetes.Namespace", {
    metadata: objectType("kubernetes.NamespaceMetadata"),
    spec: objectType("kubernetes.NamespaceSpec"),
    status: objectType("kubernetes.NamespaceStatus"),
  }),
];

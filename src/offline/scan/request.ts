/** Makes the request for a resource (spec kyverno.md 8.3 and 8.4). */
import { withDoubles } from "../../data/doubles.js";
import type { AdmissionInput } from "../../kinds/kyverno/index.js";
import { creatorOf } from "../../kubernetes/creator.js";
import type { AdmissionRequest } from "../../policy/index.js";
import type { Operation, Subresource, User } from "./circumstances.js";
import type { KnownKinds } from "./known-kinds.js";
import type { Resource } from "./resource.js";

/** Inputs of requests. */
export interface RequestCircumstances {
  readonly kinds: KnownKinds;
  readonly operation: Operation;
  /** The requester; absent: the one named in the object, if any. */
  readonly user: User | undefined;
  readonly subresources: readonly Subresource[];
}

const NOBODY: User = {};

/** The request; numbers are as written. */
export function requestFor(
  { object, group, version, kind, namespace, name }: Resource,
  { kinds, operation, user, subresources }: RequestCircumstances,
): AdmissionRequest {
  const own = { group, version, kind };
  // An object that stands for a subresource is evaluated as its parent.
  const parent = subresources.find(
    ({ subresource: each }) => each.group === group && each.version === version && each.kind === kind,
  )?.parentResource;
  const asked = parent === undefined ? own : { group: parent.group, version: parent.version, kind: parent.kind };
  const resource = {
    group: asked.group,
    version: asked.version,
    resource: kinds.resourceOf(asked.group, asked.kind),
  };
  const request: AdmissionRequest = {
    uid: "",
    kind: asked,
    resource,
    requestKind: asked,
    requestResource: resource,
    name,
    namespace,
    operation,
    userInfo: user ?? (operation === "CREATE" ? creatorOf(object) : undefined) ?? NOBODY,
    dryRun: false,
  };
  switch (operation) {
    case "CREATE":
      return { ...request, object };
    case "UPDATE":
      return { ...request, object, oldObject: object };
    case "DELETE":
      return { ...request, oldObject: object };
  }
}

/** The same for Kyverno's engine, where all numbers of objects are doubles. */
export function admissionInput(request: AdmissionRequest): AdmissionInput {
  const { object, oldObject } = request;
  const shown = object === undefined ? undefined : withDoubles(object);
  const before = oldObject === undefined ? undefined : oldObject === object ? shown : withDoubles(oldObject);
  return { kind: "admission", request, objects: { object: shown, oldObject: before } };
}

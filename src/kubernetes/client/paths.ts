/** The paths of resources on an API server. */
import { ResourceError } from "./errors.js";

/** The names of a resource. */
export interface ResourcePlace {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/**
 * One segment of a path. Guests choose names and namespaces: one with a special meaning in a path must not lead to a place that they were not granted,
 * and no name in Kubernetes has one.
 * @throws ResourceError
 */
function segment(name: string): string {
  if (isSegment(name)) return encodeURIComponent(name);
  throw new ResourceError(`"${name}" cannot be part of a path: no name is empty, "." or "..", or contains "/" or "%"`);
}

/** Whether an object of this name can exist. */
export const isSegment = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !/[/%]/.test(name);

/** The path of an API version. */
export function apiRoot({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? `/api/${segment(version)}` : `${groupRoot(group)}/${segment(version)}`;
}

/** The path of a group's list of versions. */
export const groupRoot = (group: string): string => `/apis/${segment(group)}`;

/** The path of a resource's objects: those of a namespace, or (`""`) all. */
export function collectionPath(resource: ResourcePlace, namespace: string): string {
  const within = namespace === "" ? "" : `/namespaces/${segment(namespace)}`;
  return `${apiRoot(resource)}${within}/${segment(resource.plural)}`;
}

/** The path of an object. */
export const objectPath = (resource: ResourcePlace, namespace: string, name: string): string =>
  `${collectionPath(resource, namespace)}/${segment(name)}`;

/** The path of an object's subresource, such as `scale`. */
export const subresourcePath = (
  resource: ResourcePlace,
  namespace: string,
  name: string,
  subresource: string,
): string => `${objectPath(resource, namespace, name)}/${segment(subresource)}`;

/** The path of an object's status. */
export const statusPath = (resource: ResourcePlace, namespace: string, name: string): string =>
  subresourcePath(resource, namespace, name, "status");

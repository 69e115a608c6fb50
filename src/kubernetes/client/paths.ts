/** Where things stand on an API server. */
import { ResourceError } from "./errors.js";

/** What names a resource. */
export interface ResourcePlace {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/**
 * One segment of a path. Guests choose names and namespaces: what has another meaning in a path must not lead to what they were not granted,
 * and no name in Kubernetes has it.
 * @throws ResourceError
 */
function segment(name: string): string {
  if (isSegment(name)) return encodeURIComponent(name);
  throw new ResourceError(`"${name}" cannot be part of a path: no name is empty, "." or "..", or contains "/" or "%"`);
}

/** Whether something of this name can exist. */
export const isSegment = (name: string): boolean => name !== "" && name !== "." && name !== ".." && !/[/%]/.test(name);

/** Where an API version is served. */
export function apiRoot({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === "" ? `/api/${segment(version)}` : `${groupRoot(group)}/${segment(version)}`;
}

/** Where a group says which versions it has. */
export const groupRoot = (group: string): string => `/apis/${segment(group)}`;

/** Where a resource's objects are served: those of a namespace, or (`""`) all. */
export function collectionPath(resource: ResourcePlace, namespace: string): string {
  const within = namespace === "" ? "" : `/namespaces/${segment(namespace)}`;
  return `${apiRoot(resource)}${within}/${segment(resource.plural)}`;
}

/** Where an object is served. */
export const objectPath = (resource: ResourcePlace, namespace: string, name: string): string =>
  `${collectionPath(resource, namespace)}/${segment(name)}`;

/** Where a subresource of an object is served, such as `scale`. */
export const subresourcePath = (
  resource: ResourcePlace,
  namespace: string,
  name: string,
  subresource: string,
): string => `${objectPath(resource, namespace, name)}/${segment(subresource)}`;

/** Where an object's status is written. */
export const statusPath = (resource: ResourcePlace, namespace: string, name: string): string =>
  subresourcePath(resource, namespace, name, "status");

/** Kinds, resources and the spellings of API versions. */

/** A kind of object; the core group is `""`. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A resource as it stands in URLs and rules; the core group is `""`. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** `v1` or `group/version` in its parts; `undefined` when there is more than one slash. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } | undefined {
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return { group: "", version: apiVersion };
  if (apiVersion.indexOf("/", slash + 1) >= 0) return undefined;
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The `apiVersion` of a kind or resource. */
export const apiVersionOf = ({ group, version }: { readonly group: string; readonly version: string }): string =>
  group === "" ? version : `${group}/${version}`;

/** Whether two names mean one kind in one version. */
export const sameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.group === b.group && a.version === b.version && a.kind === b.kind;

/** Whether two names mean one resource in one version. */
export const sameResource = (a: GroupVersionResource, b: GroupVersionResource): boolean =>
  a.group === b.group && a.version === b.version && a.resource === b.resource;

/** The first code unit that may be half of a pair. */
const SURROGATES = 0xd800;

/** Names in the order of their bytes, as the API server sorts them (never by locale). */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Code units sort as bytes do, except the halves of a surrogate pair, which sorts after every single unit.
    return x < SURROGATES || y < SURROGATES ? x - y : Buffer.compare(Buffer.from(a), Buffer.from(b));
  }
  return a.length - b.length;
}

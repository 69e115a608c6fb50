/** Versions of objects and lists. Kubernetes makes them comparable (1.35, KEP-5504): decimal numbers, and a larger one is newer. */

/** Longest version that is compared; a number of 64 bits has 20 digits. */
const MAX_DIGITS = 20;

const isNumber = (version: string): boolean => version.length <= MAX_DIGITS && /^[1-9][0-9]*$/.test(version);

/**
 * Whether one state is older than another of the same resource. False where that is not known: an aggregated API server may have versions of another kind.
 * @param one `metadata.resourceVersion` of an object or a list
 */
export function isOlder(one: string, other: string): boolean {
  if (!isNumber(one) || !isNumber(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
}

/** Whether one state equals the other, or is a newer one of the same resource. False where that is not known. */
export const isAtLeast = (one: string, other: string): boolean =>
  (isNumber(one) && one === other) || isOlder(other, one);

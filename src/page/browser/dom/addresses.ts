/** The address of what the page shows, so that it can be kept, sent, and left with the browser's own buttons. */

/** The address of the draft. */
export const draftAddress = "#/draft";

/** The address of a policy. */
export function policyAddress(id: string): string {
  return `#/policy/${encodeURIComponent(id)}`;
}

/** The subject of an address. */
export type Asked =
  | { readonly what: "draft" }
  | { readonly what: "policy"; readonly id: string }
  | { readonly what: "none" };

/** Reads the part of an address behind `#`. */
export function readAddress(hash: string): Asked {
  if (hash === draftAddress) return { what: "draft" };
  const found = /^#\/policy\/(.+)$/.exec(hash);
  if (found?.[1] === undefined) return { what: "none" };
  try {
    return { what: "policy", id: decodeURIComponent(found[1]) };
  } catch {
    return { what: "none" };
  }
}

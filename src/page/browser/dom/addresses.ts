/** What the page shows stands in its address, so that it can be kept, sent, and left with the browser's own buttons. */

/** The draft's. */
export const draftAddress = "#/draft";

/** Of a policy. */
export function policyAddress(id: string): string {
  return `#/policy/${encodeURIComponent(id)}`;
}

/** What an address asks for. */
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

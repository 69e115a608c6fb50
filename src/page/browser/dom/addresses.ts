/** The address of what the page shows, so that it can be kept, sent, and left with the browser's own buttons. */

/** The address of the draft. */
export const draftAddress = "#/draft";

/** The address of the overview of all policies. */
export const overviewAddress = "#/";

/** The address of a draft that a link holds. */
export const linkAddress = (text: string): string => `${draftAddress}/${text}`;

/** The address of a policy. */
export function policyAddress(id: string): string {
  return `#/policy/${encodeURIComponent(id)}`;
}

/** The subject of an address. */
export type Asked =
  | { readonly what: "draft" }
  | { readonly what: "link"; readonly text: string }
  | { readonly what: "policy"; readonly id: string }
  | { readonly what: "none" };

/** Reads the part of an address behind `#`. */
export function readAddress(hash: string): Asked {
  if (hash === draftAddress) return { what: "draft" };
  if (hash.startsWith(linkAddress(""))) return { what: "link", text: hash.slice(linkAddress("").length) };
  const found = /^#\/policy\/(.+)$/.exec(hash);
  if (found?.[1] === undefined) return { what: "none" };
  try {
    return { what: "policy", id: decodeURIComponent(found[1]) };
  } catch {
    return { what: "none" };
  }
}

import { isWritten, type Written } from "../model/draft-link.js";

/** The key of the store, with a version: another version does not read it. */
const KEY = "policy-server.page.1";
/** Longest text that is kept: browsers keep about five million characters for a site. */
const LONGEST = 1_000_000;

/** The kept texts; undefined: none, or the browser keeps nothing for this page. */
export function kept(): Written | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return isWritten(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the texts. Where that is impossible, the page works without. */
export function keep(written: Written): void {
  try {
    if (written.draft.length + written.payload.length <= LONGEST) localStorage.setItem(KEY, JSON.stringify(written));
  } catch {
    // Private windows and full stores: the text stays in the page, and is lost with it.
  }
}

/** Drops the texts. */
export function forget(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There was none.
  }
}

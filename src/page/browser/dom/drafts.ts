/** What somebody has written, kept in the browser until they reset it. */
export interface Written {
  readonly draft: string;
  readonly payload: string;
  readonly operation: string;
  readonly raw: boolean;
}

/** Named with the version of what is kept: another version does not read it. */
const KEY = "policy-server.page.1";
/** Browsers keep about five million characters for a site; more than this of one text is a file's matter. */
const LONGEST = 1_000_000;

function isWritten(value: unknown): value is Written {
  if (typeof value !== "object" || value === null) return false;
  const { draft, payload, operation, raw } = value as Record<keyof Written, unknown>;
  const texts = [draft, payload, operation].every((text) => typeof text === "string");
  return texts && typeof raw === "boolean";
}

/** What was kept; undefined: nothing, or the browser keeps nothing for this page. */
export function kept(): Written | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return isWritten(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it. Where that can't be, the page works without. */
export function keep(written: Written): void {
  try {
    if (written.draft.length + written.payload.length <= LONGEST) localStorage.setItem(KEY, JSON.stringify(written));
  } catch {
    // Private windows and full stores: the text stays in the page, and is gone with it.
  }
}

/** Forgets it. */
export function forget(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}

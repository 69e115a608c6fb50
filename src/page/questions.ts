/** Reads the page's questions: only members of `api.ts` are accepted. */
import { parsePlainJson } from "../data/json.js";
import type { CheckQuestion, EvaluateQuestion, PageSource } from "./api.js";
import { PageError } from "./playground.js";

/** Longest draft, in UTF-16 units: a file of policies has some KiB, and a draft is compiled at each pause in typing. */
export const MAX_DRAFT_LENGTH = 64 * 1024;
/** Longest id. */
const MAX_ID_LENGTH = 512;
const OPERATIONS = ["CREATE", "UPDATE", "DELETE", "CONNECT"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** @throws PageError */
export function readCheck(body: Buffer): CheckQuestion {
  const { draft } = fieldsOf(body);
  return { draft: draftOf(draft) };
}

/** @throws PageError */
export function readEvaluate(body: Buffer): EvaluateQuestion {
  const { draft, id, payload, raw, operation } = fieldsOf(body);
  if (typeof payload !== "string") throw wrong("payload", "a string");
  if (id !== undefined && (typeof id !== "string" || id.length > MAX_ID_LENGTH)) throw wrong("id", "a short string");
  if (raw !== undefined && typeof raw !== "boolean") throw wrong("raw", "true or false");
  const known = OPERATIONS.find((each) => each === operation);
  if (operation !== undefined && known === undefined) throw wrong("operation", OPERATIONS.join(", "));
  if (draft === undefined && id === undefined) throw new PageError(422, "a draft or an id is needed");
  return {
    payload,
    ...(draft !== undefined && { draft: draftOf(draft) }),
    ...(id !== undefined && { id }),
    ...(raw !== undefined && { raw }),
    ...(known !== undefined && { operation: known }),
  };
}

function fieldsOf(body: Buffer): Fields {
  let value: unknown;
  try {
    value = parsePlainJson(body.toString("utf8"));
  } catch {
    throw new PageError(400, "the body is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new PageError(422, "expected an object");
  return value as Fields;
}

function draftOf(value: unknown): PageSource {
  if (typeof value !== "object" || value === null) throw wrong("draft", "an object");
  const { kind, text } = value as Fields;
  if (kind !== "entry" && kind !== "resource") throw wrong("draft.kind", "entry or resource");
  if (typeof text !== "string") throw wrong("draft.text", "a string");
  if (text.length > MAX_DRAFT_LENGTH) {
    throw new PageError(413, `a draft has at most ${MAX_DRAFT_LENGTH} characters: this one has ${text.length}`);
  }
  return { kind, text };
}

const wrong = (field: string, expected: string): PageError => new PageError(422, `${field}: expected ${expected}`);

/**
 * Finds the place of a value in a JSON text that is known to be valid, for messages about requests of the wrong shape (spec kubewarden.md 3.5).
 * Used for errors only. Nothing recurses, and the text is read once, so hostile texts cost no more than others.
 */
import { parseJson } from "../data/json.js";

/** A key or an index on the way from the root to a value. */
export type PathStep = string | number;

/** Writes a path as `request.userInfo.groups[0]`; the root is the empty string. */
export function formatPath(path: readonly PathStep[]): string {
  let text = "";
  for (const step of path) {
    if (step !== "") text += typeof step === "number" ? `[${step}]` : text === "" ? step : `.${step}`;
  }
  return text;
}

/** The end of the value at `path`, as `line L column C`, columns in bytes as the reference server counts. The text must be valid JSON. */
export function positionOf(text: string, path: readonly PathStep[]): string {
  let start = skipSpace(text, 0);
  for (const step of path) start = findMember(text, start, step) ?? start;
  const end = endOfValue(text, start);
  const lineStart = text.lastIndexOf("\n", end - 1) + 1;
  const line = text.slice(0, lineStart).split("\n").length;
  return `line ${line} column ${Buffer.byteLength(text.slice(lineStart, end))}`;
}

/** The beginning of a member of the object or array at `start`. Fields of a review are not repeated. */
function findMember(text: string, start: number, step: PathStep): number | undefined {
  const isObject = text[start] === "{";
  let at = skipSpace(text, start + 1);
  for (let index = 0; text[at] !== "}" && text[at] !== "]" && at < text.length; index++) {
    let key: PathStep = index;
    if (isObject) {
      const end = endOfString(text, at);
      key = keyOf(text.slice(at, end));
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (key === step) return at;
    at = skipSpace(text, endOfValue(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return undefined;
}

/** A key, from its text with the quotes. */
const keyOf = (text: string): string => (text.includes("\\") ? String(parseJson(text)) : text.slice(1, -1));

function skipSpace(text: string, from: number): number {
  const notSpace = /[^ \t\n\r]/g;
  notSpace.lastIndex = from;
  return notSpace.exec(text)?.index ?? text.length;
}

function endOfString(text: string, from: number): number {
  const special = /["\\]/g;
  special.lastIndex = from + 1;
  for (let hit = special.exec(text); hit !== null; hit = special.exec(text)) {
    if (hit[0] === '"') return special.lastIndex;
    special.lastIndex += 1;
  }
  return text.length;
}

function endOfValue(text: string, from: number): number {
  const scalarEnd = /[,\]} \t\n\r]|$/g;
  const interesting = /["{}[\]]/g;
  const first = text[from];
  if (first === '"') return endOfString(text, from);
  if (first !== "{" && first !== "[") {
    scalarEnd.lastIndex = from;
    return scalarEnd.exec(text)?.index ?? text.length;
  }
  let depth = 0;
  interesting.lastIndex = from;
  for (let hit = interesting.exec(text); hit !== null; hit = interesting.exec(text)) {
    if (hit[0] === '"') interesting.lastIndex = endOfString(text, hit.index);
    else if (hit[0] === "{" || hit[0] === "[") depth += 1;
    else if (--depth === 0) return interesting.lastIndex;
  }
  return text.length;
}

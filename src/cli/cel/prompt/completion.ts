/** Completes the input at the cursor. */
import { type DeclaredNames, MapValue, type Value } from "../../../cel/index.js";
import { isJsonObject } from "../../../data/same-value.js";

/** Most names that are offered at a time. */
const MOST = 200;
/** Keywords of the language. */
const WORDS = ["true", "false", "null", "in"];

/** Data for completion. */
export interface Completing {
  readonly names: DeclaredNames;
  /** Commands of the prompt, with their colons. */
  readonly commands: readonly string[];
  /** The value of a variable, if it has one. */
  readonly value: (variable: string) => Value | undefined;
}

/** The candidates for the end of a line, and the text that they replace, in the form of `readline`. */
export function complete(line: string, { names, commands, value }: Completing): [candidates: string[], part: string] {
  if (/^\s*:\w*$/.test(line)) return pick(commands, line.trimStart());
  const path = PATH.exec(line.slice(-LONGEST_PATH))?.[0] ?? "";
  const dot = path.lastIndexOf(".");
  if (dot < 0) {
    const variables = names.variables.map(({ name }) => name);
    return pick([...variables, ...names.functions.map(called), ...WORDS], path);
  }
  const head = path.slice(0, dot);
  const part = path.slice(dot + 1);
  const inside = names.functions.filter((name) => name.startsWith(`${head}.`)).map((name) => name.slice(dot + 1));
  if (inside.length > 0 && value(head.split(".")[0] ?? "") === undefined) return pick(inside.map(called), part);
  const fields = head === "" ? [] : fieldsOf(follow(head, value));
  // `object.spec.cont` means existing containers, not the function `contains`.
  const known = pick(fields, part);
  return part !== "" && known[0].length > 0 ? known : pick([...fields, ...names.methods.map(called)], part);
}

/** The path to a value: names, indexes and dots. */
const PATH = /[\w.?[\]]*$/;
/** Most characters of a path. */
const LONGEST_PATH = 200;
const NAME = /^[a-zA-Z_]\w*$/;

const called = (name: string): string => `${name}(`;

function pick(candidates: readonly string[], part: string): [string[], string] {
  const fitting = [...new Set(candidates)].filter((candidate) => candidate.startsWith(part));
  return [fitting.slice(0, MOST), part];
}

/** The value at a path. Any item of a list stands for all. */
function follow(path: string, value: Completing["value"]): unknown {
  const [name = "", ...fields] = path.replace(/\[[^\]]*\]?/g, ".0").split(".");
  let found: unknown = value(name);
  for (const field of fields) {
    const key = field.replace(/^\?/, "");
    if (Array.isArray(found)) found = found[0];
    else found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

/** Field names that can follow a dot. */
function fieldsOf(value: unknown): string[] {
  if (!isJsonObject(value) || value instanceof MapValue) return [];
  return Object.keys(value).filter((key) => NAME.test(key));
}
